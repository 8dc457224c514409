import { TracerError } from '../../errors';
import type { OpGroup } from '../report/operation';
import { frameText } from '../site/frame';

export type GroupTest = (group: OpGroup) => boolean;

/**
 * Makes a test for whether a group matches one of the patterns. `LeaksOptions.allow` describes them.
 *
 * @throws TracerError ERR_ASYNC_TRACER_OPTION for a pattern that is neither a text with a character nor a RegExp
 */
export function parseAllowList(patterns: readonly (string | RegExp)[]): GroupTest {
  if (!Array.isArray(patterns)) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_OPTION',
      `allow is ${String(patterns)}; expected an array of patterns`,
    );
  }
  const tests = patterns.map((pattern): GroupTest => {
    if (pattern instanceof RegExp) {
      // A global or sticky RegExp would continue where its last match ended.
      const fresh = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''));
      return ({ op, site }) => fresh.test(`${op ?? ''} ${site === null ? '' : frameText(site)}`.trimEnd());
    }
    if (typeof pattern !== 'string' || pattern === '') {
      throw new TracerError(
        'ERR_ASYNC_TRACER_OPTION',
        `allow holds ${JSON.stringify(pattern)}; expected a text or a RegExp`,
      );
    }
    const source = pattern
      .split('*')
      .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
      .join('.*');
    const whole = new RegExp(`^${source}$`, 's');
    const part = new RegExp(source, 's');
    return ({ op, area, site }) =>
      (op !== null && whole.test(op)) ||
      (area !== null && whole.test(area)) ||
      (site !== null && part.test(frameText(site)));
  });
  return (group) => tests.some((test) => test(group));
}
