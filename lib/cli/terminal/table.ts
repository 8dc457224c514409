/** Tables that fit the screen: the least important columns are dropped first, then the call site moves to its own line. */
import CliTable3 from 'cli-table3';
import type { Screen } from './screen';
import { beginningOf, widthOf } from './text';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => string;
  /** Default 'right': most columns are figures. */
  align?: 'left' | 'right';
  /** Where the screen is narrow, columns with the highest rank are dropped first; 0, the default, never. */
  dropRank?: number;
}

/** A column that takes the rest of the width. Where that is little, it is a line under each row. */
export interface WideColumn<Row> {
  head: string;
  cell: (row: Row, width: number) => string;
}

const GAP = 2;
/** With less room the call site goes under the row. */
const WIDE_MIN = 32;
const INDENT = '    ';
const BARE = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
  ...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '' },
};

function naturalWidth<Row>(column: Column<Row>, rows: readonly Row[]): number {
  return rows.reduce((width, row) => Math.max(width, widthOf(column.cell(row))), widthOf(column.head));
}

/** Ends with a line break. Empty where there is no row. */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, colors }: Screen,
  wide?: WideColumn<Row>,
): string {
  if (rows.length === 0) {
    return '';
  }
  let kept = [...columns];
  const total = (): number => kept.reduce((sum, column) => sum + naturalWidth(column, rows) + GAP, -GAP);
  const hasWide = wide !== undefined && rows.some((row) => wide.cell(row, Number.POSITIVE_INFINITY) !== '');
  let rank = Math.max(...kept.map((column) => column.dropRank ?? 0));
  while (total() > width && rank > 0) {
    kept = kept.filter((column) => (column.dropRank ?? 0) < rank);
    rank--;
  }
  const room = width - total() - GAP;
  const beside = hasWide && room >= WIDE_MIN;
  const table = new CliTable3({
    chars: BARE,
    style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [], compact: true },
    colAligns: [...kept.map(({ align }) => align ?? 'right'), 'left'],
    head: [...kept.map(({ head }) => head), ...(beside ? [wide.head] : [])],
  });
  for (const row of rows) {
    table.push([...kept.map(({ cell }) => cell(row)), ...(beside ? [wide.cell(row, room)] : [])]);
  }
  const [head, ...body] = table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
  const lines = [colors.dim(beginningOf(head, width))];
  body.forEach((line, i) => {
    lines.push(line);
    const under = hasWide && !beside ? wide.cell(rows[i], width - INDENT.length) : '';
    if (under !== '') {
      lines.push(INDENT + colors.cyan(under));
    }
  });
  return `${lines.join('\n')}\n`;
}
