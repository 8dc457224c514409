import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AREAS } from '../../lib/log/area';
import { FORMAT_VERSION, OPERATION_PHASES } from '../../lib/log/event';
import schema from '../../lib/log/schema.json';
import { fieldsOf, problemsOf, topLevelFields, validateLog } from '../support/validate';

const INIT =
  '{"opid":7,"op":"TCPSERVER","phase":"init","area":"net","parentopid":5,"parentop":"Timeout","execopid":3,"time":1764486000123.456,"stack":["listen:/app/server.js:12:5","onmessage:node:internal/x:1:2"]}';
const BEFORE =
  '{"opid":7,"op":"TCPSERVER","phase":"before","area":"net","time":1764486000125.001,"ctx":{"fd":3,"a":[1,{"b":"}"}]}}';
const AFTER = '{"opid":7,"phase":"after","time":1764486000125.000}';
const DESTROY = '{"opid":7,"op":"TCPSERVER","phase":"destroy","area":"net","time":1764486000125.100}';
const RESOLVE =
  '{"opid":9007199254740991,"op":"PROMISE","phase":"resolve","area":"promises","time":1764486000125.100}';
const START =
  '{"phase":"start","format":1,"pid":1,"thread":0,"node":"v24.22.3","versions":{"v8":"13"},"anchor":{"epoch":1764486000123.456,"monotonic":12.5},"options":{"stacks":false},"time":1764486000123.456}';
const END =
  '{"phase":"end","counts":{"init":1,"before":1,"after":1,"destroy":0,"resolve":0},"lost":0,"live":1,"reason":"error","exitcode":1,"error":{"name":"E","message":"m","code":"C","stack":["f:/a.js:1:2"]},"time":1764486000125.100}';
const LOST = '{"phase":"lost","count":12,"time":1764486000125.100}';

describe('schema.json', () => {
  for (const line of [INIT, BEFORE, AFTER, DESTROY, RESOLVE, START, END, LOST]) {
    it(`accepts a record of phase ${JSON.parse(line).phase}`, () => {
      assert.deepEqual(problemsOf(line), []);
    });
  }

  it('knows the phases, the areas and the format version of lib/log', () => {
    assert.deepEqual(schema.properties.phase.enum, [...OPERATION_PHASES, 'start', 'end', 'lost']);
    assert.deepEqual(schema.definitions.area.enum, [...AREAS]);
    assert.equal(schema.definitions.start.properties.format.const, FORMAT_VERSION);
  });

  it('lists the fields of an init record in the order of the design', () => {
    const order = ['opid', 'op', 'phase', 'area', 'parentopid', 'parentop', 'execopid', 'time', 'stack'];
    assert.deepEqual(fieldsOf('init'), order);
  });

  const required: [line: string, fields: string[]][] = [
    [INIT, ['opid', 'op', 'phase', 'area', 'parentopid', 'time']],
    [AFTER, ['opid', 'phase', 'time']],
    [DESTROY, ['opid', 'phase', 'time']],
    [START, ['phase', 'format', 'pid', 'thread', 'node', 'versions', 'anchor', 'options', 'time']],
    [END, ['phase', 'counts', 'lost', 'live', 'reason', 'time']],
    [LOST, ['phase', 'count', 'time']],
  ];
  for (const [line, fields] of required) {
    for (const field of fields) {
      it(`refuses a record of phase ${JSON.parse(line).phase} without ${field}`, () => {
        const { [field]: _, ...rest } = JSON.parse(line);
        assert.notDeepEqual(problemsOf(JSON.stringify(rest)), []);
      });
    }
  }

  const refused: [what: string, line: string][] = [
    ['what is no JSON', '{"opid":7'],
    ['what is no object', '[1]'],
    ['an unknown phase', AFTER.replace('after', 'pre')],
    ['an op without its area', AFTER.replace('"opid":7', '"opid":7,"op":"TCP"')],
    ['an area without its op', AFTER.replace('"phase":"after"', '"phase":"after","area":"net"')],
    ['an area that does not belong to the op', BEFORE.replace('"net"', '"fs"')],
    ['an unknown area', INIT.replace('"net"', '"network"')],
    ['an id that is no whole number', AFTER.replace('7', '7.5')],
    ['an id of 0', AFTER.replace('7', '0')],
    ['a time with two decimals', AFTER.replace('125.000', '125.00')],
    ['a time without decimals', AFTER.replace('125.000', '125')],
    ['a time as text', AFTER.replace('1764486000125.000', '"1764486000125.000"')],
    ['a stack in a before', BEFORE.replace('"ctx"', '"stack":[],"ctx"')],
    ['a stack that is one text', INIT.replace(/"stack":\[.*\]/, '"stack":"f:/a.js:1:2"')],
    ['a frame without its column', INIT.replace('listen:/app/server.js:12:5', 'listen:/app/server.js')],
    ['a context in an init', INIT.replace('}', ',"ctx":{}}')],
    ['a parent in a destroy', DESTROY.replace('"time"', '"parentopid":1,"time"')],
    ['a lost record of nothing', LOST.replace('12', '0')],
    ['an operation in a lost record', LOST.replace('{', '{"opid":1,')],
    ['a higher format', START.replace('"format":1', '"format":2')],
    ['an unknown reason', END.replace('"reason":"error"', '"reason":"signal"')],
    ['a field in the wrong place', DESTROY.replace('"opid":7,"op":"TCPSERVER"', '"op":"TCPSERVER","opid":7')],
    ['a field twice', DESTROY.replace('"opid":7', '"opid":7,"opid":7')],
    ['a field that nobody asked for', DESTROY.replace('"opid":7', '"host":"a","opid":7')],
  ];
  for (const [what, line] of refused) {
    it(`refuses ${what}`, () => {
      assert.notDeepEqual(problemsOf(line), []);
    });
  }
});

describe('validateLog', () => {
  const prefix = { host: 'a"b', nested: { opid: 1 } };
  const suffix = { list: [1, 2] };
  const custom = `{"host":"a\\"b","nested":{"opid":1},${DESTROY.slice(1, -1)},"list":[1,2]}`;

  it('gives the records of a valid log', () => {
    assert.deepEqual(
      validateLog(`${INIT}\n${LOST}\n`).map((record) => record.phase),
      ['init', 'lost'],
    );
    assert.deepEqual(validateLog(''), []);
  });

  it('accepts prefix first and suffix last, where they are expected', () => {
    assert.deepEqual(problemsOf(custom, { prefix, suffix }), []);
  });

  it('refuses custom fields that are missing, have another value, or stand at the other end', () => {
    assert.notDeepEqual(problemsOf(DESTROY, { prefix }), []);
    assert.notDeepEqual(problemsOf(custom, { prefix, suffix: { list: [1, 3] } }), []);
    assert.notDeepEqual(problemsOf(custom, { prefix: suffix, suffix: prefix }), []);
    assert.notDeepEqual(problemsOf(custom, { prefix }), []);
  });

  it('names the line that is wrong, and why', () => {
    assert.throws(() => validateLog(`${INIT}\n${DESTROY.replace('7', '0')}\n`), /line 2 \/opid must be >= 1/);
  });

  it('refuses a log that ends in the middle of a line, and one with an empty line', () => {
    assert.throws(() => validateLog(`${INIT}\n${INIT}`), /middle of a line/);
    assert.throws(() => validateLog(`${INIT}\n\n${INIT}\n`), /line 2 is no JSON/);
  });
});

describe('topLevelFields', () => {
  it('gives keys and values as they stand in the text', () => {
    assert.deepEqual(topLevelFields('{"a":1.50,"a\\"":"x,}\\\\","c":{"a":[2,{"d":"]"}]},"e":[],"a":null}'), [
      ['a', '1.50'],
      ['a"', '"x,}\\\\"'],
      ['c', '{"a":[2,{"d":"]"}]}'],
      ['e', '[]'],
      ['a', 'null'],
    ]);
  });
});
