/** `async-tracer slow`: what held the event loop, and what waited. */
import type { CommandModule } from 'yargs';
import { analyzeSlow } from '../../analyze';
import { examples } from '../arguments/help';
import { answerOptions, type LogArguments, usageOf } from '../arguments/log-files';
import { settings } from '../arguments/settings';
import { countOf } from '../arguments/values';
import { renderSlow } from '../render/slow';
import { answer } from './answer';

const TOP = 10;

interface SlowArguments extends LogArguments {
  threshold: string | undefined;
  top: string | undefined;
  all: boolean | undefined;
}

export const slowCommand: CommandModule<object, SlowArguments> = {
  command: 'slow [log..]',
  describe: 'callbacks that held the event loop, and the longest waits',
  builder: (yargs) =>
    answerOptions(yargs)
      .usage(
        usageOf(
          'slow',
          'Callbacks that held the event loop, and operations that waited longest for their\nfirst callback.',
        ),
      )
      .option('threshold', {
        describe: 'how long a callback must hold the loop, as in 20ms',
        defaultDescription: '50ms',
        requiresArg: true,
      })
      .option('top', {
        describe: 'rows shown of each table',
        defaultDescription: String(TOP),
        requiresArg: true,
      })
      .option('all', { describe: 'timers, servers and sockets among the waits too', type: 'boolean' })
      .epilogue(
        examples([
          ['async-tracer slow app.ndjson', 'what held the loop'],
          ['async-tracer slow --threshold 10ms app.ndjson', 'the same, stricter'],
        ]),
      ) as never,
  handler: async (given) => {
    const top = countOf(given.top, 'top', TOP);
    const heldMs =
      given.threshold === undefined ? undefined : settings().parseDuration(given.threshold, '--threshold');
    await answer(
      given,
      (sources, options) => analyzeSlow(sources, { ...options, heldMs, top, all: given.all === true }),
      (report, screen) => renderSlow(report, screen, top),
    );
  },
};
