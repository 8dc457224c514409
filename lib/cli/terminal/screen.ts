/** The width and colours of the output. */
import picocolors from 'picocolors';

export interface Screen {
  /** Columns; Infinity in a pipe or a file, where a call site must not be cut. */
  width: number;
  colors: ReturnType<typeof picocolors.createColors>;
  /** The current folder. Paths inside it are shown relative to it. */
  folder: string;
}

interface Output {
  isTTY?: boolean;
  columns?: number;
}

const NARROWEST = 40;

/**
 * The width is that of the terminal, or COLUMNS. Colours are used in a terminal that has them, never with NO_COLOR, and
 * everywhere with FORCE_COLOR (see no-color.org and force-color.org).
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
