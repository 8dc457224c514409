/** Durations as a person reads them. */

/** Unit in milliseconds, its name, and from which value on the next one is used. */
const UNITS: readonly (readonly [number, string, number])[] = [
  [1e-6, 'ns', 1000],
  [1e-3, 'us', 1000],
  [1, 'ms', 1000],
  [1000, 's', 120],
  [60_000, 'min', 120],
  [3_600_000, 'h', Number.POSITIVE_INFINITY],
];
const UNKNOWN = '-';

/** Three significant digits with their unit: 12.3 us, 1.5 s. A dash for what is not known. */
export function formatDuration(ms: number | null): string {
  if (ms === null || Number.isNaN(ms)) {
    return UNKNOWN;
  }
  if (ms <= 0) {
    return '0';
  }
  for (const [unit, name, limit] of UNITS) {
    const value = Number((ms / unit).toPrecision(3));
    if (value < limit) {
      return `${value} ${name}`;
    }
  }
  return UNKNOWN;
}
