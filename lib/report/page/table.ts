/** Tables that sort by their heads, with a search field and a limit of rows that are shown at first. */
import { html } from './dom';
import { formatCount } from './format';

export interface Column<Row> {
  head: string;
  /** Longer text for the head, shown as its tip. */
  about?: string;
  cell: (row: Row) => string;
  /** What it is sorted by; the largest number first, text from A on. */
  key: (row: Row) => number | string;
  isText?: boolean;
  /** Left out where the window is narrow. */
  isOptional?: boolean;
  /** A share from 0 to 1 that is drawn as a bar behind the cell. */
  bar?: (row: Row) => number;
}

export interface TableOptions<Row> {
  name: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Column that the rows are sorted by at first. */
  sortedBy: number;
  searchable?: boolean;
  /** Rows under the table: which were left out. */
  foot?: string;
}

const SHOWN = 25;
const MORE = 200;

export function table<Row>({
  name,
  columns,
  rows,
  sortedBy,
  searchable,
  foot,
}: TableOptions<Row>): HTMLElement {
  let by = sortedBy;
  let isDescending = !columns[by].isText;
  let limit = SHOWN;
  let found: readonly Row[] = rows;
  const texts = new Map<Row, string>();
  const body = html('tbody');
  const status = html('span', { class: 'status', role: 'status' });
  const more = html('button', {
    type: 'button',
    class: 'more',
    click: () => {
      limit += MORE;
      draw();
    },
  });

  const heads = columns.map(({ head, about, isText, isOptional }, i) =>
    html(
      'th',
      { scope: 'col', class: classOf(isText, isOptional) },
      html('button', { type: 'button', title: about ?? false, click: () => sortBy(i) }, head),
    ),
  );

  const textOf = (row: Row): string => {
    let text = texts.get(row);
    if (text === undefined) {
      text = columns
        .map(({ cell }) => cell(row))
        .join('\n')
        .toLowerCase();
      texts.set(row, text);
    }
    return text;
  };

  const sorted = (): Row[] => {
    const { key } = columns[by];
    const sign = isDescending ? -1 : 1;
    return [...found].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      return sign * (typeof x === 'string' ? x.localeCompare(String(y)) : x - Number(y));
    });
  };

  function draw(): void {
    heads.forEach((head, i) => {
      if (i === by) {
        head.setAttribute('aria-sort', isDescending ? 'descending' : 'ascending');
      } else {
        head.removeAttribute('aria-sort');
      }
    });
    body.replaceChildren(
      ...sorted()
        .slice(0, limit)
        .map((row) => rowElement(row, columns)),
    );
    const left = found.length - limit;
    more.hidden = left <= 0;
    more.textContent =
      left > MORE ? `Show ${MORE} more of ${formatCount(left)}` : `Show the other ${formatCount(left)}`;
    status.textContent =
      found.length === rows.length
        ? `${formatCount(rows.length)} rows`
        : `${formatCount(found.length)} of ${formatCount(rows.length)} rows`;
  }

  function sortBy(column: number): void {
    isDescending = column === by ? !isDescending : !columns[column].isText;
    by = column;
    draw();
  }

  const search = html('input', {
    type: 'search',
    placeholder: 'Search',
    'aria-label': `Search in ${name}`,
    input: () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      found = rows.filter((row) => words.every((word) => textOf(row).includes(word)));
      limit = SHOWN;
      draw();
    },
  });
  draw();
  return html(
    'div',
    { class: 'table-box' },
    searchable ? html('div', { class: 'table-head' }, search, status) : null,
    html(
      'div',
      { class: 'scroll' },
      html('table', { 'aria-label': name }, html('thead', {}, html('tr', {}, ...heads)), body),
    ),
    more,
    foot === undefined ? null : html('p', { class: 'about' }, foot),
  );
}

function rowElement<Row>(row: Row, columns: readonly Column<Row>[]): HTMLElement {
  return html(
    'tr',
    {},
    ...columns.map(({ cell, isText, isOptional, bar }) => {
      const text = cell(row);
      const element = html('td', { class: classOf(isText, isOptional), title: isText ? text : false }, text);
      if (bar !== undefined) {
        element.classList.add('bar');
        element.style.setProperty('--share', String(Math.min(1, bar(row))));
      }
      return element;
    }),
  );
}

function classOf(isText = false, isOptional = false): string {
  return `${isText ? 'text' : 'figure'}${isOptional ? ' optional' : ''}`;
}
