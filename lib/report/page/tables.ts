/** What ran: by op and call site, by area, and the callbacks that took longest. */
import type { CallbackRow, OpRow, ReportData } from '../data';
import { html, section } from './dom';
import { formatCount, formatDuration, formatShare, opName, siteName } from './format';
import { type Column, table } from './table';

const number = (value: number | null): number => value ?? -1;

export function operationsSection(data: ReportData): HTMLElement {
  const highest = Math.max(Number.MIN_VALUE, ...data.ops.map((row) => row[14]));
  const columns: Column<OpRow>[] = [
    { head: 'op', isText: true, cell: (row) => opName(data, row[0]), key: (row) => opName(data, row[0]) },
    {
      head: 'from',
      about: 'The call site',
      isText: true,
      cell: (row) => siteName(data, row[0]),
      key: (row) => siteName(data, row[0]),
    },
    {
      head: 'count',
      about: 'Operations that began',
      cell: (row) => formatCount(row[1]),
      key: (row) => row[1],
    },
    {
      head: 'live',
      about: 'Alive at the end of the log',
      cell: (row) => formatCount(row[2]),
      key: (row) => number(row[2]),
    },
    {
      head: 'wait p50',
      about: 'From the begin to the first callback',
      cell: (row) => formatDuration(row[4]),
      key: (row) => number(row[4]),
    },
    {
      head: 'p99',
      isOptional: true,
      about: 'The same, 99 of 100',
      cell: (row) => formatDuration(row[6]),
      key: (row) => number(row[6]),
    },
    {
      head: 'max',
      about: 'The longest wait',
      cell: (row) => formatDuration(row[7]),
      key: (row) => number(row[7]),
    },
    {
      head: 'runs',
      isOptional: true,
      about: 'Callbacks',
      cell: (row) => formatCount(row[8]),
      key: (row) => row[8],
    },
    {
      head: 'run p99',
      isOptional: true,
      about: 'One callback, 99 of 100',
      cell: (row) => formatDuration(row[12]),
      key: (row) => number(row[12]),
    },
    {
      head: 'run max',
      about: 'The longest callback',
      cell: (row) => formatDuration(row[13]),
      key: (row) => number(row[13]),
    },
    {
      head: 'run total',
      about: 'All callbacks together',
      cell: (row) => formatDuration(row[9]),
      key: (row) => row[9],
    },
    {
      head: 'share',
      about: 'Of the time of the log',
      cell: (row) => formatShare(row[14]),
      key: (row) => row[14],
      bar: (row) => row[14] / highest,
    },
  ];
  return section(
    'Operations by call site',
    '',
    table({
      name: 'operations',
      columns,
      rows: data.ops,
      sortedBy: 10,
      searchable: true,
      foot:
        data.opsLeftOut > 0
          ? `${formatCount(data.opsLeftOut)} more with less run time are not in this page.`
          : undefined,
    }),
  );
}

export function areasSection({ areas }: ReportData): HTMLElement {
  const highest = Math.max(Number.MIN_VALUE, ...areas.map(({ run }) => run.share));
  return section(
    'Areas',
    '',
    table({
      name: 'areas',
      columns: [
        { head: 'area', isText: true, cell: ({ area }) => area ?? '?', key: ({ area }) => area ?? '?' },
        { head: 'count', cell: ({ count }) => formatCount(count), key: ({ count }) => count },
        { head: 'live', cell: ({ live }) => formatCount(live), key: ({ live }) => number(live) },
        { head: 'runs', cell: ({ run }) => formatCount(run.count), key: ({ run }) => run.count },
        { head: 'run total', cell: ({ run }) => formatDuration(run.total), key: ({ run }) => run.total },
        {
          head: 'share',
          cell: ({ run }) => formatShare(run.share),
          key: ({ run }) => run.share,
          bar: ({ run }) => run.share / highest,
        },
      ],
      rows: areas,
      sortedBy: 4,
    }),
  );
}

export function callbacksSection(data: ReportData): HTMLElement {
  const from = data.log.from ?? 0;
  const columns: Column<CallbackRow>[] = [
    { head: 'took', cell: (row) => formatDuration(row[4]), key: (row) => row[4] },
    {
      head: 'at',
      about: 'Since the begin of the log',
      cell: (row) => formatDuration(row[3] - from),
      key: (row) => row[3],
    },
    { head: 'op', isText: true, cell: (row) => opName(data, row[0]), key: (row) => opName(data, row[0]) },
    { head: 'opid', cell: (row) => String(row[1]), key: (row) => row[1] },
    {
      head: 'from',
      isText: true,
      cell: (row) => siteName(data, row[0]),
      key: (row) => siteName(data, row[0]),
    },
  ];
  return section(
    'Longest callbacks',
    '',
    data.callbacks.length === 0
      ? html('p', {}, 'No callback was recorded.')
      : table({ name: 'longest callbacks', columns, rows: data.callbacks, sortedBy: 0 }),
  );
}
