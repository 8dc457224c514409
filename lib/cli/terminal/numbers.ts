/** Figures as text. */

const UNKNOWN = '-';

/** 1,234,567; a dash where it is not known. */
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
