/**
 * Holds a log against lib/log/schema.json and against what a schema cannot say: whole lines, each field once and in its
 * place, three decimals of time, the area that belongs to the op.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { areaOf } from '../../lib/log/area';
import type { CustomFields, Phase, TraceRecord } from '../../lib/log/event';
import schema from '../../lib/log/schema.json';

export interface Expected {
  /** The fields that stand first in every record; none by default, and then none may be there. */
  prefix?: CustomFields;
  /** The fields that stand last in every record. */
  suffix?: CustomFields;
}

const isValid = new Ajv({ allErrors: true }).compile(schema);

const DEFINITION_OF_PHASE: Record<Phase, keyof typeof schema.definitions> = {
  init: 'init',
  before: 'beforeOrAfter',
  after: 'beforeOrAfter',
  destroy: 'destroyOrResolve',
  resolve: 'destroyOrResolve',
  start: 'start',
  end: 'end',
  lost: 'lost',
};

/** The fields of a record of `phase`, in order: the schema's `properties`, less those that it never has. */
export function fieldsOf(phase: Phase): string[] {
  const { properties } = schema.definitions[DEFINITION_OF_PHASE[phase]] as { properties: object };
  return Object.entries(properties).flatMap(([field, rule]) => (rule === false ? [] : [field]));
}

/** Keys and values of a JSON object as they stand in its text: JSON.parse would hide order, repetition and decimals. */
export function topLevelFields(json: string): [key: string, rawValue: string][] {
  const fields: [string, string][] = [];
  let depth = 0;
  let keyStart = -1;
  let key: string | undefined;
  let valueStart = -1;
  for (let i = 0; i < json.length; i++) {
    const char = json[i];
    if (char === '"') {
      keyStart = i;
      for (i++; json[i] !== '"'; i++) if (json[i] === '\\') i++;
      if (depth === 1 && key === undefined) {
        key = JSON.parse(json.slice(keyStart, i + 1)) as string;
      }
    } else if (char === '{' || char === '[') {
      depth++;
    } else if (depth === 1 && char === ':') {
      valueStart = i + 1;
    } else if (depth === 1 && key !== undefined && (char === ',' || char === '}')) {
      fields.push([key, json.slice(valueStart, i)]);
      key = undefined;
    }
    if (char === '}' || char === ']') depth--;
  }
  return fields;
}

/** What is wrong with one line of a log; nothing in a valid one. */
export function problemsOf(line: string, expected: Expected = {}): string[] {
  let record: TraceRecord;
  try {
    record = JSON.parse(line);
  } catch (error) {
    return [`is no JSON: ${(error as Error).message}`];
  }
  if (!isValid(record)) {
    return (isValid.errors ?? []).map(
      ({ instancePath, message }) => `${instancePath || 'the record'} ${message}`,
    );
  }
  const problems: string[] = [];
  const fields = topLevelFields(line);
  const prefix = Object.entries(expected.prefix ?? {});
  const suffix = Object.entries(expected.suffix ?? {});
  const custom = [
    ...prefix.map((field, i) => [field, fields[i]] as const),
    ...suffix.map((field, i) => [field, fields[fields.length - suffix.length + i]] as const),
  ];
  for (const [[key, value], actual] of custom) {
    if (actual === undefined || actual[0] !== key || actual[1] !== JSON.stringify(value)) {
      problems.push(`has ${JSON.stringify(actual)} where its custom field ${key} belongs`);
    }
  }
  const own = fields.slice(prefix.length, fields.length - suffix.length).map(([key]) => key);
  const order = fieldsOf(record.phase);
  const inOrder = order.filter((field) => own.includes(field));
  if (own.join() !== inOrder.join())
    problems.push(`has the fields ${own}, expected ${inOrder} and each once`);
  const time = fields.find(([key]) => key === 'time')?.[1] ?? '';
  if (!/^\d+\.\d{3}$/.test(time)) problems.push(`has the time ${time}, expected three decimals`);
  if ('op' in record && record.area !== areaOf(record.op as string)) {
    problems.push(
      `has the area ${record.area}, expected ${areaOf(record.op as string)} for the op ${record.op}`,
    );
  }
  return problems;
}

/**
 * The records of a log, after every line was found valid.
 *
 * @param source the log's path, or its text: what begins with `{` or is empty is text
 * @throws AssertionError that names the first lines that are not valid, and why
 */
export function validateLog(source: string, expected: Expected = {}): TraceRecord[] {
  const text = source === '' || source.startsWith('{') ? source : readFileSync(source, 'utf8');
  assert.ok(text === '' || text.endsWith('\n'), `the log ends in the middle of a line: ${text.slice(-100)}`);
  const lines = text === '' ? [] : text.slice(0, -1).split('\n');
  const invalid: string[] = [];
  for (const [index, line] of lines.entries()) {
    for (const problem of problemsOf(line, expected))
      invalid.push(`line ${index + 1} ${problem}: ${line.slice(0, 300)}`);
    if (invalid.length >= 10) break;
  }
  assert.deepEqual(invalid, [], `the log is not valid`);
  return lines.map((line) => JSON.parse(line));
}
