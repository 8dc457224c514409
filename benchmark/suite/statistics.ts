/** Medians and their spread: a mean would let one disturbed run move a figure on a shared machine. */

function sorted(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}

/** The value below which the share `q` (0 to 1) of the values lies, between neighbours in proportion. NaN where there are none. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) {
    return Number.NaN;
  }
  const ordered = sorted(values);
  const position = (ordered.length - 1) * q;
  const below = Math.floor(position);
  const above = Math.ceil(position);
  return ordered[below] + (ordered[above] - ordered[below]) * (position - below);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export interface Spread {
  median: number;
  min: number;
  max: number;
  /** The quartiles, between which half of the values lie. */
  low: number;
  high: number;
}

export function spread(values: readonly number[]): Spread {
  return {
    median: median(values),
    min: quantile(values, 0),
    max: quantile(values, 1),
    low: quantile(values, 0.25),
    high: quantile(values, 0.75),
  };
}
