import { RECORD_FIELDS, type TraceRecord } from '../../log/event';

/** The first field of an operation's record, behind those of `prefix`. */
const OPID = '"opid":';

/** Learning costs a few parses; a log that changes its custom fields more often is read by JSON.parse. */
const MAX_CHANGES = 256;

const LOG_FIELDS = new Set(RECORD_FIELDS);

/**
 * The text around the fields of the log in each line: `{` and `}` with the fields of the options `prefix` and `suffix`.
 * They are alike in every record, so their text is learnt from one line and then only compared.
 */
export class CustomFields {
  /** The line up to the value of `opid`. */
  head = bytesOf(`{${OPID}`);
  /** The line from behind the time, or behind `stack` or `ctx`. */
  tail = bytesOf('}');
  /** Whether there are any. */
  exist = false;
  #changes = 0;

  /** @param line of `record`, as it is in the log */
  learn(line: string, record: TraceRecord): void {
    if (this.#changes >= MAX_CHANGES || 'stack' in record || 'ctx' in record) {
      return;
    }
    const texts = textsAround(line);
    if (texts === undefined) {
      return;
    }
    const { head, tail } = texts;
    this.#changes++;
    this.head = bytesOf(head + OPID);
    this.tail = bytesOf(tail);
    this.exist = head !== '{' || tail !== '}';
  }
}

/**
 * The text before the first field of the log and after the last one. Undefined where the line is not in the tracer's
 * form, or where `{` and the prefix alone, or `{` and the suffix alone, are no valid JSON or hold a field of the log. With
 * this rule a line is valid exactly when the text between the two is, and no later field can replace one of the log's.
 */
function textsAround(line: string): { head: string; tail: string } | undefined {
  const text = line.trim();
  let opid = text.indexOf(OPID);
  let head = text.slice(0, opid);
  while (opid > 1 && !(head.endsWith(',') && isCustom(`${head.slice(0, -1)}}`))) {
    opid = text.indexOf(OPID, opid + 1);
    head = text.slice(0, opid);
  }
  if (opid < 1) {
    return undefined;
  }
  const time = /"time":\d+\.\d{3}(?=[,}])/.exec(text.slice(opid));
  if (time === null) {
    return undefined;
  }
  const tail = text.slice(opid + time.index + time[0].length);
  if (tail !== '}' && !(tail.startsWith(',') && isCustom(`{${tail.slice(1)}`))) {
    return undefined;
  }
  return { head, tail };
}

/** Whether a text is a JSON object with no field of the log. */
function isCustom(text: string): boolean {
  try {
    return Object.keys(JSON.parse(text)).every((field) => !LOG_FIELDS.has(field));
  } catch {
    return false;
  }
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text));
}
