/** How many operation records are in lines that were not written. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countLostRecords } from '../lib/trace/lifecycle/lost-records';

const INIT = '{"opid":7,"op":"X","phase":"init","area":"custom","parentopid":1,"time":1.000}\n';
const LOST = '{"phase":"lost","count":500,"time":1.000}\n';
const count = (text: string): number => countLostRecords(Buffer.from(text));

describe('the records in lines', () => {
  it('are one a line; lost, start and end records are none', () => {
    assert.equal(count(INIT + INIT), 2);
    assert.equal(count(INIT + LOST), 1);
    assert.equal(count(`{"phase":"start","format":1,"time":1.000}\n${INIT}`), 1);
    assert.equal(count(`${INIT}{"phase":"end","lost":3,"time":1.000}\n`), 1);
  });

  it('go by the phase of the record, not by a field of that name in a prefix or a context', () => {
    assert.equal(count(`{"app":{"phase":"start","v":1},${INIT.slice(1)}`), 1);
    assert.equal(count(`{"app":{"phase":"start","v":1},${LOST.slice(1)}`), 0);
    const ctx = '{"opid":7,"phase":"before","time":1.000,"ctx":{"phase":"lost","count":500}}\n';
    assert.equal(count(ctx), 1);
  });

  it('hold a first line that lacks its beginning', () => {
    assert.equal(count(`${INIT.slice(20)}${INIT}`), 2);
    assert.equal(count(`1,"phase":"lost","count":500,"time":1.000}\n${INIT}`), 1);
  });
});
