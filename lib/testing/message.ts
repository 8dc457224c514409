/** The message of a LeakError. */
import { type LeakRow, parseFrame } from '../analyze';
import { frameText } from '../analyze/site/frame';

/** Frames shown of each stack, not counting Node's own. */
const FRAMES = 5;

/** The frames outside Node. Where none of them is the user's code, also the call site that led to the operation. */
function frames({ stack, site, inherited }: LeakRow): string[] {
  const own = (stack ?? [])
    .map(parseFrame)
    .filter((frame) => frame !== undefined)
    .filter(({ file }) => !file.startsWith('node:') && file !== '<anonymous>')
    .slice(0, FRAMES)
    .map((frame) => `at ${frameText(frame)}`);
  return site === null || (own.length > 0 && !inherited) ? own : [...own, `under ${frameText(site)}`];
}

export function describeLeaks(leaks: readonly LeakRow[]): string {
  const count = leaks.reduce((sum, row) => sum + row.count, 0);
  const lines = leaks.flatMap((leak) => [
    `  ${leak.count} ${leak.op ?? 'of unknown type'}: ${leak.reason}`,
    ...frames(leak).map((frame) => `      ${frame}`),
  ]);
  return `${count === 1 ? '1 operation was' : `${count} operations were`} left open:\n${lines.join('\n')}`;
}
