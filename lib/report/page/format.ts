/** Figures as text. */
import type { ReportData } from '../data';
import { cleanText } from './dom';

const UNITS: readonly (readonly [number, string, number])[] = [
  [1e-3, 'µs', 1000],
  [1, 'ms', 1000],
  [1000, 's', 120],
  [60_000, 'min', 120],
  [3_600_000, 'h', Number.POSITIVE_INFINITY],
];

/** Three significant digits with their unit; a dash for what is not known. */
export function formatDuration(ms: number | null): string {
  if (ms === null) {
    return '–';
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
  return '–';
}

export function formatCount(count: number | null): string {
  return count === null ? '–' : count.toLocaleString('en-US');
}

export function formatCountOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function formatShare(share: number): string {
  const percent = share * 100;
  return percent > 0 && percent < 0.05 ? '<0.1 %' : `${percent.toFixed(percent < 9.95 ? 1 : 0)} %`;
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${Number(value.toPrecision(3))} ${units[unit]}`;
}

export function opName({ groups }: ReportData, group: number): string {
  return cleanText(groups[group][0] ?? '?');
}

/** The call site of a group; empty where there is none. */
export function siteName({ groups, sites }: ReportData, group: number): string {
  const [op, , , site, inherited] = groups[group];
  if (site < 0) {
    return op === null ? '(started before the trace)' : '';
  }
  return cleanText(`${inherited ? 'under ' : ''}${sites[site]}`);
}
