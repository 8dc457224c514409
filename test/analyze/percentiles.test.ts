import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Percentiles } from '../../lib/analyze/model/percentiles';

describe('histograms', () => {
  it('give percentiles to the microsecond below 64 us', () => {
    const histograms = new Percentiles();
    for (let us = 0; us < 64; us++) histograms.add(3, us / 1000);
    assert.deepEqual(histograms.get(3), {
      count: 64,
      total: 2.016,
      p50: 0.031,
      p95: 0.06,
      p99: 0.063,
      max: 0.063,
    });
  });

  it('give percentiles within 1.6 % of the true ones, and count, total and max exactly', () => {
    const us = fc.oneof(fc.nat(100), fc.nat(1_000_000), fc.integer({ min: 0, max: 2 ** 45 }));
    fc.assert(
      fc.property(fc.array(us, { minLength: 1, maxLength: 200 }), (values) => {
        const histograms = new Percentiles();
        for (const value of values) histograms.add(0, value / 1000);
        const sorted = [...values].sort((a, b) => a - b);
        const result = histograms.get(0);
        assert.equal(result.count, values.length);
        assert.equal(result.max, sorted.at(-1)! / 1000);
        assert.ok(
          Math.abs(result.total - values.reduce((sum, value) => sum + value, 0) / 1000) <=
            result.total * 1e-9 + 0.001,
        );
        for (const [name, share] of [
          ['p50', 0.5],
          ['p95', 0.95],
          ['p99', 0.99],
        ] as const) {
          const exact = sorted[Math.ceil(values.length * share) - 1] / 1000;
          assert.ok(
            Math.abs(result[name]! - exact) <= exact / 64 + 0.0005,
            `${name}: ${result[name]} for ${exact}`,
          );
        }
      }),
    );
  });

  it('keep distributions of different numbers separate, also far ones', () => {
    const histograms = new Percentiles();
    histograms.add(0, 1);
    histograms.add(5000, 7);
    assert.equal(histograms.get(0).max, 1);
    assert.equal(histograms.get(5000).max, 7);
    assert.deepEqual(histograms.get(2), { count: 0, total: 0, p50: null, p95: null, p99: null, max: null });
    assert.equal(histograms.get(1e6).count, 0);
  });
});
