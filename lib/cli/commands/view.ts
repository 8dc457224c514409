/** `async-tracer view`: the report in the browser. */
import type { CommandModule } from 'yargs';
import { TracerError } from '../../errors';
import { examples } from '../arguments/help';
import { type LogArguments, sourcesOf, usageOf } from '../arguments/log-files';
import { countOf } from '../arguments/values';
import { print, printMessage } from '../terminal/output';
import { openBrowser } from '../view/browser';
import { servePage } from '../view/server';
import { reportOf } from './make-report';

interface ViewArguments extends LogArguments {
  'no-open': boolean | undefined;
  port: string | undefined;
}

const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const PORT_MAX = 65_535;

export const viewCommand: CommandModule<object, ViewArguments> = {
  command: 'view [log..]',
  describe: 'the report in the browser',
  builder: (yargs) =>
    yargs
      .usage(
        usageOf(
          'view',
          'Makes the page that report writes, serves it to this machine alone, prints its\nURL, and opens the browser. Ctrl-C ends it.',
        ),
      )
      .option('no-open', { describe: 'only print the URL', type: 'boolean' })
      .option('port', {
        describe: 'the port of the URL',
        defaultDescription: 'any that is free',
        requiresArg: true,
      })
      .epilogue(
        examples([
          ['async-tracer view app.ndjson', 'look at a log'],
          ['async-tracer view --no-open *.ndjson', 'on a machine without a browser'],
        ]),
      ) as never,
  handler: async ({ log, port, 'no-open': noOpen }) => {
    const portNumber = countOf(port, 'port', 0);
    if (portNumber > PORT_MAX) {
      throw new TracerError(
        'ERR_ASYNC_TRACER_USAGE',
        `--port is ${portNumber}; expected at most ${PORT_MAX}.`,
      );
    }
    const { html } = await reportOf(sourcesOf(log), log !== undefined && log.length > 0);
    const server = await servePage(html, portNumber);
    const ended = new Promise<void>((resolve) => {
      for (const signal of ENDING_SIGNALS) {
        process.once(signal, () => resolve());
      }
    });
    print(`${server.url}\n`);
    if (process.stdout.isTTY) {
      printMessage('Ctrl-C ends it');
      if (noOpen !== true) {
        openBrowser(server.url);
      }
    }
    await ended;
    server.close();
  },
};
