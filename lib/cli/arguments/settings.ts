/** What the command and the traced program read alike. This is the only file of the command that loads the write side. */
import type * as Trace from '../../trace';

export type { Matcher, OptionSpec } from '../../trace';

/** Loaded at the first call: it takes 5 ms, and neither `--help` nor an answer about a log needs it. */
export const settings = (): ReturnType<typeof Trace.settings> =>
  (require('../../trace') as typeof Trace).settings();
