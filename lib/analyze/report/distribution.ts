/** How durations spread, in milliseconds. */
export interface Distribution {
  count: number;
  total: number;
  /** Percentiles are within 1.6 % (see `Percentiles`); `max` and `total` are exact. Null where `count` is 0. */
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
}
