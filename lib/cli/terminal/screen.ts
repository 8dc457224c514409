/** What a report is drawn on. */
import picocolors from 'picocolors';

export interface Screen {
  /** Columns; Infinity where nobody's eye is the limit: in a pipe or a file a cut call site is worth nothing. */
  width: number;
  colors: ReturnType<typeof picocolors.createColors>;
  /** Where it runs: paths under it are shown relative. */
  folder: string;
}

interface Output {
  isTTY?: boolean;
  columns?: number;
}

const NARROWEST = 40;

/**
 * A terminal's width, or COLUMNS. Colours in a terminal that can, never with NO_COLOR, also elsewhere with FORCE_COLOR
 * (see no-color.org and force-color.org).
 */
export function screenOf(output: Output, environment: NodeJS.ProcessEnv): Screen {
  const { NO_COLOR, FORCE_COLOR, TERM, COLUMNS } = environment;
  const wanted =
    FORCE_COLOR !== undefined && FORCE_COLOR !== ''
      ? !/^(0|false)$/.test(FORCE_COLOR)
      : output.isTTY === true && TERM !== 'dumb';
  const columns = (output.isTTY && output.columns) || Number(COLUMNS) || Number.POSITIVE_INFINITY;
  return {
    width: Math.max(columns, NARROWEST),
    colors: picocolors.createColors(wanted && (NO_COLOR ?? '') === ''),
    folder: process.cwd(),
  };
}
