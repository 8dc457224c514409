/** `async-tracer stats`: what ran. */
import type { CommandModule } from 'yargs';
import { analyzeStats } from '../../analyze';
import { examples } from '../arguments/help';
import { answerOptions, type LogArguments, usageOf } from '../arguments/log-files';
import { settings } from '../arguments/settings';
import { choiceOf, countOf } from '../arguments/values';
import { ORDERS, type Order, renderStats } from '../render/stats';
import { answer } from './answer';

const TOP = 20;

interface StatsArguments extends LogArguments {
  sort: string | undefined;
  threshold: string | undefined;
  top: string | undefined;
}

export const statsCommand: CommandModule<object, StatsArguments> = {
  command: 'stats [log..]',
  describe: 'what ran: counts, waits and run times by op and call site',
  builder: (yargs) =>
    answerOptions(yargs)
      .usage(
        usageOf(
          'stats',
          'What ran, by op and call site: how many, how long they waited for their first\ncallback, how long their callbacks ran, and what is worth a look.',
        ),
      )
      .option('sort', {
        describe: 'order of the rows: run, wait, count or live',
        defaultDescription: 'run',
        requiresArg: true,
      })
      .option('threshold', {
        describe: 'from when on a callback is said to hold the loop, as in 20ms',
        defaultDescription: '50ms',
        requiresArg: true,
      })
      .option('top', { describe: 'rows shown', defaultDescription: String(TOP), requiresArg: true })
      .epilogue(
        examples([
          ['async-tracer stats app.ndjson', 'what took the time'],
          ['async-tracer stats --sort wait *.ndjson.gz', 'what waited longest'],
          ['zcat log.gz | async-tracer stats --json -', 'for other programs'],
        ]),
      ) as never,
  handler: async (given) => {
    const by = choiceOf(given.sort, 'sort', Object.keys(ORDERS) as Order[]);
    const top = countOf(given.top, 'top', TOP);
    const heldMs =
      given.threshold === undefined ? undefined : settings().parseDuration(given.threshold, '--threshold');
    await answer(
      given,
      (sources, options) => analyzeStats(sources, { ...options, heldMs }),
      (report, screen) => renderStats(report, screen, { top, by }),
    );
  },
};
