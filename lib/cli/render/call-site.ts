/** Call sites as text that an editor can open, and the names of ops. */
import { isAbsolute, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Frame, OpGroup } from '../../analyze';
import { clean, endOf, widthOf } from '../terminal/text';

function fileOf(file: string, folder: string): string {
  let path = file;
  if (file.startsWith('file:')) {
    try {
      path = fileURLToPath(file);
    } catch {
      return file;
    }
  }
  if (!isAbsolute(path)) {
    return path;
  }
  const inside = relative(folder, path);
  return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? path : inside;
}

/**
 * `function (file:line:column)` in at most `width` columns. What does not fit is cut: first the function, then the
 * beginning of the path.
 */
export function formatFrame(frame: Frame, folder: string, width = Number.POSITIVE_INFINITY): string {
  const where = clean(`${fileOf(frame.file, folder)}:${frame.line}:${frame.column}`);
  const name = frame.function === '' ? '<anonymous>' : clean(frame.function);
  const whole = `${name} (${where})`;
  return widthOf(whole) <= width ? whole : endOf(where, width);
}

/** The call site of a group; empty where it is not known. */
export function formatSite(
  { site, inherited }: Pick<OpGroup, 'site' | 'inherited'>,
  folder: string,
  width = Number.POSITIVE_INFINITY,
): string {
  if (site === null) {
    return '';
  }
  const under = inherited ? 'under ' : '';
  return under + formatFrame(site, folder, width - under.length);
}

/** The call site of a group, or the reason why its op is not known; empty where the log has no call site. */
export function formatOrigin(
  group: Pick<OpGroup, 'op' | 'site' | 'inherited'>,
  folder: string,
  width = Number.POSITIVE_INFINITY,
): string {
  return group.op === null ? endOf('(started before the trace)', width) : formatSite(group, folder, width);
}

/** The name of an op; a question mark where the log does not hold it. */
export function formatOp({ op }: Pick<OpGroup, 'op'>): string {
  return op === null ? '?' : clean(op);
}
