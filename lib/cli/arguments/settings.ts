/** What the command and the traced program read alike. The only place of the command that loads the write side. */
import type * as Trace from '../../trace';

export type { Matcher, OptionSpec } from '../../trace/options';

/** Where it is asked for: 5 ms, which help and an answer about a log need not spend. */
export const settings = (): ReturnType<typeof Trace.settings> =>
  (require('../../trace') as typeof Trace).settings();
