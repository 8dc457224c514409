/** `async-tracer leaks`: what never ended. */
import type { CommandModule } from 'yargs';
import { analyzeLeaks, type LeaksReport } from '../../analyze';
import { examples } from '../arguments/help';
import { answerOptions, type LogArguments, usageOf } from '../arguments/log-files';
import { settings } from '../arguments/settings';
import { listOf } from '../arguments/values';
import { renderLeaks } from '../render/leaks';
import { lossesOf } from '../render/log-summary';
import { answer } from './answer';

/** Exit code of --fail. */
const LEAKED = 1;

interface LeaksArguments extends LogArguments {
  allow: unknown;
  'min-age': string | undefined;
  fail: boolean | undefined;
  all: boolean | undefined;
  stacks: boolean | undefined;
}

export const leaksCommand: CommandModule<object, LeaksArguments> = {
  command: 'leaks [log..]',
  describe: 'what never ended: handles, timers, requests and promises',
  builder: (yargs) =>
    answerOptions(yargs)
      .usage(
        usageOf(
          'leaks',
          'What never ended, by call site. Trace with --stacks for call sites, and with\n--resolve for promises that never settled.',
        ),
      )
      .option('allow', {
        describe: 'an op, an area or a part of a call site that is no leak, * for any text; may be repeated',
        requiresArg: true,
      })
      .option('min-age', {
        describe: 'how long it must have lived when the log ended, as in 500ms',
        defaultDescription: '0',
        requiresArg: true,
      })
      .option('fail', {
        describe: 'exit code 1 where there is a leak, or where the log cannot tell, for CI',
        type: 'boolean',
      })
      .option('all', { describe: 'also what is live and no leak, and why', type: 'boolean' })
      .option('stacks', { describe: 'the whole stack of each', type: 'boolean' })
      .epilogue(
        examples([
          ['async-tracer leaks app.ndjson', 'why the process does not exit'],
          ["async-tracer leaks --fail --allow 'pool.js' app.ndjson", 'in CI'],
        ]),
      ) as never,
  handler: async (given) => {
    const minAge =
      given['min-age'] === undefined ? 0 : settings().parseDuration(given['min-age'], '--min-age');
    const allow = listOf(given.allow);
    const view = { all: given.all === true, stacks: given.stacks === true };
    await answer(
      given,
      (sources, options) => analyzeLeaks(sources, { ...options, allow, minAge }),
      (report, screen) => renderLeaks(report, screen, view),
      (report) => (given.fail ? failOnLeaks(report) : ''),
    );
  },
};

/**
 * Sets the exit code where the findings name a leak: a dropped promise is one, though the log cannot be sure. Also where
 * the log is not whole: a leak may be in the missing part, and CI must not pass. Returns the message for that case.
 */
function failOnLeaks({ findings, log }: LeaksReport): string {
  const found = findings.some(({ code }) => code !== 'records-lost');
  const missing = log.operationRecords === 0 ? ['it holds no operation'] : lossesOf(log);
  if (!found && missing.length === 0) {
    return '';
  }
  process.exitCode = LEAKED;
  return found ? '' : `no leak was found, but the log cannot tell: ${missing.join(', ')}`;
}
