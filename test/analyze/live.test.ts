import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { IdMap } from '../../lib/analyze/model/id-map';
import { LiveOperations } from '../../lib/analyze/model/live-operations';

/** Few ids, so that they come again, and many that fall on the same place of a small table. */
const id = fc.oneof(
  fc.nat(15),
  fc.nat(15).map((n) => n * 64),
  fc.nat(8).map((n) => 2 ** 32 * n + 7),
  fc.maxSafeNat(),
);

describe('the table of live operations', () => {
  it('holds what a Map holds, whatever is added and removed', () => {
    const step = fc.record({ id, remove: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const live = new LiveOperations();
        const map = new Map<number, number>();
        steps.forEach((step, time) => {
          const row = live.find(step.id);
          assert.equal(row >= 0, map.has(step.id));
          if (row >= 0 && step.remove) {
            live.remove(row);
            map.delete(step.id);
          } else if (row < 0) {
            const added = live.add(step.id, time, time % 7);
            assert.equal(live.flags[added], 0);
            live.flags[added] = 255;
            map.set(step.id, time);
          }
        });
        assert.equal(live.size, map.size);
        assert.deepEqual(new Map([...live.rows()].map((row) => [live.id[row], live.init[row]])), map);
        for (const [key, time] of map) {
          const row = live.find(key);
          assert.deepEqual(
            [live.id[row], live.init[row], live.group[row], live.flags[row]],
            [key, time, time % 7, 255],
          );
        }
      }),
    );
  });

  it('takes the place of an operation that ended for the next one', () => {
    const live = new LiveOperations();
    for (let i = 0; i < 1_000_000; i++) live.remove(live.add(i, 0, 0));
    assert.equal(live.id.length, 8);
  });
});

describe('the map of all ids', () => {
  it('holds what a Map holds', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(id, fc.nat()), { maxLength: 300 }), fc.array(id), (entries, others) => {
        const ids = new IdMap();
        const map = new Map<number, number>();
        for (const [key, value] of entries) {
          ids.set(key, value % 1e9);
          map.set(key, value % 1e9);
        }
        for (const key of [...map.keys(), ...others]) assert.equal(ids.get(key), map.get(key) ?? -1);
      }),
    );
  });

  it('knows every one of a million ids in a row', () => {
    const ids = new IdMap();
    for (let i = 0; i < 1_000_000; i++) ids.set(i, i);
    for (let i = 0; i < 1_000_000; i += 997) assert.equal(ids.get(i), i);
    assert.equal(ids.get(1_000_000), -1);
  });
});
