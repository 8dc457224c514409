import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Mark, PAGE_SIZE, RecentIds, SLOTS } from '../lib/trace/hook/recent-ids';

const SPAN = PAGE_SIZE * SLOTS;

describe('RecentIds', () => {
  it('knows nothing at first', () => {
    const recent = new RecentIds();
    for (const id of [-1, 0, 1, PAGE_SIZE, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
      assert.equal(recent.get(id), Mark.none);
    }
  });

  it('has no mark but those that were made, near ids and far ones alike, and forgets only what is a span behind', () => {
    const near = fc.integer({ min: 0, max: 3 * SPAN });
    const high = fc.integer({ min: 0, max: 3 * SPAN }).map((n) => 2 ** 33 + n);
    const seam = fc.integer({ min: -PAGE_SIZE, max: PAGE_SIZE }).map((n) => 2 ** 31 + n);
    const id = fc.oneof({ weight: 4, arbitrary: near }, high, seam);
    const step = fc.record({ id, mark: fc.constantFrom(Mark.ended, Mark.own) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const recent = new RecentIds();
        const marks = new Map<number, Mark>();
        let newest = 0;
        for (const { id, mark } of steps) {
          if (marks.has(id)) continue;
          recent.set(id, mark);
          marks.set(id, mark);
          newest = Math.max(newest, id);
        }
        for (const [id, mark] of marks) {
          const isSure = id > newest - SPAN + PAGE_SIZE;
          const found = recent.get(id);
          assert.ok(
            found === mark || (found === Mark.forgotten && !isSure),
            `${id} is ${found}, not ${mark}`,
          );
          for (const other of [id - 1, id + 1]) {
            if (!marks.has(other)) assert.ok([Mark.none, Mark.forgotten].includes(recent.get(other)));
          }
        }
      }),
    );
  });

  it('says of an id whose page was given to a later one that it has forgotten', () => {
    const recent = new RecentIds();
    recent.set(5, Mark.ended);
    assert.equal(recent.get(5), Mark.ended);
    assert.equal(recent.get(6), Mark.none);
    assert.equal(recent.get(5 + SPAN), Mark.none, 'nothing is marked there yet');
    recent.set(7 + SPAN, Mark.own);
    assert.equal(recent.get(5), Mark.forgotten);
    assert.equal(recent.get(5 + SPAN), Mark.none);
    assert.equal(recent.get(7 + SPAN), Mark.own);
    recent.set(5, Mark.ended);
    assert.equal(recent.get(5 + SPAN), Mark.none, 'what comes too late marks no other id');
  });
});
