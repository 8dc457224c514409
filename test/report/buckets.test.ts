/** Buckets keep sums and levels while they widen. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LevelBuckets, TimeBuckets } from '../../lib/report/buckets';

describe('buckets of time', () => {
  it('share a stretch out among the buckets that it touches', () => {
    const buckets = new TimeBuckets(8);
    buckets.add(0.025, 0.175);
    assert.deepEqual(
      buckets.values(0.05).map((value) => Number(value.toFixed(6))),
      [0.025, 0.05, 0.05, 0.025],
    );
  });

  it('join neighbours where time goes beyond the last one', () => {
    const buckets = new TimeBuckets(4);
    buckets.add(0, 0.05);
    buckets.add(0.1, 0.15);
    buckets.add(0.3, 0.35);
    assert.equal(buckets.width, 0.1);
    assert.deepEqual(
      buckets.values(0.2).map((value) => Number(value.toFixed(6))),
      [0.1, 0.05],
    );
  });

  it('never lose time, and never hold more than their width', () => {
    const stretches = fc.array(fc.tuple(fc.nat(5_000_000), fc.nat(300_000)), { maxLength: 50 });
    fc.assert(
      fc.property(stretches, (list) => {
        const buckets = new TimeBuckets(64);
        let time = 0;
        let sum = 0;
        for (const [gap, length] of list) {
          time += gap / 1000;
          buckets.add(time, time + length / 1000);
          time += length / 1000;
          sum += length / 1000;
        }
        const values = buckets.values(buckets.width);
        assert.ok(values.length <= 64);
        assert.ok(Math.abs(values.reduce((total, value) => total + value, 0) - sum) < 1e-6 * (sum + 1));
        assert.ok(values.every((value) => value <= buckets.width * (1 + 1e-9)));
      }),
    );
  });
});

describe('buckets of a level', () => {
  it('give the level at the end of each, and the last one where nothing changed', () => {
    const buckets = new LevelBuckets(8);
    buckets.set(0.01, 1);
    buckets.set(0.02, 2);
    buckets.set(0.16, 5);
    assert.deepEqual(buckets.values(0.05, 0.27), [2, 2, 2, 5, 5, 5]);
  });

  it('keep the later level of two that are joined', () => {
    const buckets = new LevelBuckets(4);
    buckets.set(0, 1);
    buckets.set(0.06, 7);
    buckets.set(0.31, 3);
    assert.equal(buckets.width, 0.1);
    assert.deepEqual(buckets.values(0.1, 0.35), [7, 7, 7, 3]);
  });
});
