/** Figures as a person reads them. */

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

/** 1,234,567; a dash for what is not known. */
export function formatCount(count: number | null): string {
  return count === null ? UNKNOWN : count.toLocaleString('en-US');
}

/** `1 record`, `2,000 records`. */
export function formatCountOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** A share of 1 in percent, with one decimal below 10. */
export function formatShare(share: number): string {
  const percent = share * 100;
  return `${percent > 0 && percent < 0.05 ? '<0.1' : percent.toFixed(percent < 9.95 ? 1 : 0)} %`;
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (Number(value.toPrecision(3)) >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${Number(value.toPrecision(3))} ${units[unit]}`;
}
