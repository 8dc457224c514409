/** Who started what, alike operations as one row: a tree that opens and closes. */
import type { ReportData, TreeRow } from '../data';
import { html, section } from './dom';
import { formatCount, formatCountOf, formatDuration, opName, siteName } from './format';

const SHOWN = 50;
/** Rows that are opened at first, about: those under which there is most run time. */
const OPEN_ROWS = 40;

interface TreeScale {
  data: ReportData;
  /** The highest run time of a row: the length of a full bar. */
  runMax: number;
  opened: ReadonlySet<TreeRow>;
}

export function treeSection(data: ReportData): HTMLElement {
  const { roots, nodes, leftOut, folded } = data.tree;
  const scale = { data, runMax: highestRun(roots), opened: heaviest(roots) };
  const tree = html('div', { role: 'tree', class: 'tree', 'aria-label': 'Who started what' });
  tree.append(...treeItems(roots, 0, 1, scale));
  const first = tree.querySelector<HTMLElement>('[role=treeitem]');
  if (first !== null) {
    first.tabIndex = 0;
  }
  tree.addEventListener('keydown', onKey);
  tree.addEventListener('click', (event) => {
    const row = (event.target as Element).closest('.tree-row');
    const item = row?.parentElement;
    if (item !== null && item !== undefined) {
      toggle(item);
      focusItem(item);
    }
  });
  const notes = [
    ...(leftOut > 0
      ? [
          `${formatCount(leftOut)} of ${formatCountOf(nodes, 'row')} with the fewest operations are not in this page.`,
        ]
      : []),
    ...(folded > 0 ? [`${formatCountOf(folded, 'operation')} counted at the row that started them.`] : []),
  ];
  return section(
    'Who started what',
    `Operations of one op and call site that were started from alike ones are one row. Arrow keys walk through the rows, → opens one and ← closes it. ${notes.join(' ')}`.trim(),
    roots.length === 0
      ? html('p', {}, 'The log has no begin of an operation.')
      : html(
          'div',
          {},
          html(
            'div',
            { class: 'tree-row tree-heads', 'aria-hidden': 'true' },
            html('span', {}, 'op and call site'),
            html('span', {}, 'count'),
            html('span', {}, 'wait max'),
            html('span', {}, 'run total'),
            html('span', {}, 'first opid'),
          ),
          tree,
        ),
  );
}

/** The rows to open first: always the one with most run time under it, until enough rows are there. */
function heaviest(roots: readonly TreeRow[]): Set<TreeRow> {
  const opened = new Set<TreeRow>();
  const closed = roots.map((row) => ({ row, weight: weightOf(row) }));
  let rows = roots.length;
  while (rows < OPEN_ROWS && closed.length > 0) {
    const [{ row }] = closed.sort((a, b) => b.weight - a.weight).splice(0, 1);
    if (row[6].length > 0) {
      opened.add(row);
      rows += Math.min(row[6].length, SHOWN);
      closed.push(...row[6].map((child) => ({ row: child, weight: weightOf(child) })));
    }
  }
  return opened;
}

function weightOf(row: TreeRow): number {
  return row[6].reduce((sum, child) => sum + weightOf(child), row[5]);
}

function highestRun(rows: readonly TreeRow[]): number {
  return rows.reduce((most, row) => Math.max(most, row[5], highestRun(row[6])), 0);
}

/** The elements of sibling rows from `start` on, and a button for those beyond. */
function treeItems(rows: readonly TreeRow[], start: number, level: number, scale: TreeScale): HTMLElement[] {
  const items = rows.slice(start, start + SHOWN).map((row) => treeItem(row, level, scale));
  const left = rows.length - start - SHOWN;
  if (left > 0) {
    const button = html(
      'button',
      {
        type: 'button',
        class: 'more',
        click: () => button.replaceWith(...treeItems(rows, start + SHOWN, level, scale)),
      },
      `Show more of ${formatCount(left)}`,
    );
    items.push(button);
  }
  return items;
}

function treeItem(row: TreeRow, level: number, scale: TreeScale): HTMLElement {
  const [group, opid, count, again, waitMax, runTotal, children, left] = row;
  const { data, runMax } = scale;
  const hasChildren = children.length > 0;
  const site = siteName(data, group);
  const inside = again > 0 ? ` (${formatCount(again)} inside itself)` : '';
  const name = html(
    'span',
    { class: 'tree-name', title: `${opName(data, group)} ${site}` },
    html('i', { class: 'twist', 'aria-hidden': 'true' }, hasChildren ? '▸' : ''),
    html('b', {}, opName(data, group)),
    ` ${site}${inside}${left > 0 ? ` (${formatCount(left)} small ones left out)` : ''}`,
  );
  name.style.setProperty('--level', String(level - 1));
  const bar = html('span', { class: 'bar' }, formatDuration(runTotal));
  bar.style.setProperty('--share', String(runMax > 0 ? runTotal / runMax : 0));
  const element = html(
    'div',
    { role: 'treeitem', 'aria-level': level, tabindex: -1 },
    html(
      'div',
      { class: 'tree-row' },
      name,
      html('span', {}, formatCount(count)),
      html('span', {}, formatDuration(waitMax)),
      bar,
      html('span', {}, String(opid)),
    ),
  );
  if (hasChildren) {
    element.setAttribute('aria-expanded', 'false');
    pending.set(element, () => treeItems(children, 0, level + 1, scale));
    if (scale.opened.has(row)) {
      toggle(element);
    }
  }
  return element;
}

/** Rows are made when their parent is first opened. */
const pending = new WeakMap<Element, () => HTMLElement[]>();

function toggle(item: HTMLElement): void {
  const isOpen = item.getAttribute('aria-expanded');
  if (isOpen === null) {
    return;
  }
  const make = pending.get(item);
  if (make !== undefined) {
    pending.delete(item);
    item.append(html('div', { role: 'group' }, ...make()));
  }
  item.setAttribute('aria-expanded', isOpen === 'true' ? 'false' : 'true');
}

function focusItem(item: HTMLElement): void {
  for (const other of item.closest('[role=tree]')?.querySelectorAll<HTMLElement>('[tabindex="0"]') ?? []) {
    other.tabIndex = -1;
  }
  item.tabIndex = 0;
  item.focus();
}

function onKey(event: KeyboardEvent): void {
  const item = (event.target as Element).closest<HTMLElement>('[role=treeitem]');
  if (item === null || event.target !== item) {
    return;
  }
  const visible = [
    ...(item.closest('[role=tree]')?.querySelectorAll<HTMLElement>('[role=treeitem]') ?? []),
  ].filter((candidate) => candidate.offsetParent !== null);
  const at = visible.indexOf(item);
  const isOpen = item.getAttribute('aria-expanded');
  const parent = item.parentElement?.closest<HTMLElement>('[role=treeitem]');
  let next: HTMLElement | null | undefined;
  switch (event.key) {
    case 'ArrowDown':
      next = visible[at + 1];
      break;
    case 'ArrowUp':
      next = visible[at - 1];
      break;
    case 'Home':
      next = visible[0];
      break;
    case 'End':
      next = visible.at(-1);
      break;
    case 'ArrowRight':
      if (isOpen === 'false') {
        toggle(item);
      } else if (isOpen === 'true') {
        next = visible[at + 1];
      }
      break;
    case 'ArrowLeft':
      if (isOpen === 'true') {
        toggle(item);
      } else {
        next = parent;
      }
      break;
    case 'Enter':
    case ' ':
      toggle(item);
      break;
    default:
      return;
  }
  event.preventDefault();
  if (next) {
    focusItem(next);
  }
}
