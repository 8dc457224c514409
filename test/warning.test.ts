/** The one warning of a tracer, with an event loop and without. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import type * as Warning from '../lib/trace/lifecycle/warning';
import { warn } from '../lib/trace/lifecycle/warning';
import { loadAnew } from './support/modules';

describe('warning', () => {
  /** The warnings that `work` causes; Node's own listener, which prints them, stands aside meanwhile. */
  async function warningsOf(work: () => void): Promise<unknown[]> {
    const listeners = process.rawListeners('warning') as ((warning: Error) => void)[];
    const seen: unknown[] = [];
    process.removeAllListeners('warning');
    process.on('warning', ({ name, message, code }: Error & { code?: string }) => {
      seen.push([name, code, message]);
    });
    try {
      work();
      await new Promise(setImmediate);
    } finally {
      process.removeAllListeners('warning');
      for (const listener of listeners) {
        process.on('warning', listener);
      }
    }
    return seen;
  }

  /** What is written on standard error where no tick will come. */
  function lastWords(
    context: TestContext,
    listens: boolean,
    work: (warn: typeof Warning.warn) => void,
  ): string {
    let text = '';
    const { mock } = context.mock.method(fs, 'writeSync', (_fd: number, bytes: Buffer, from = 0) => {
      text += bytes.toString('utf8', from);
      return bytes.length - from;
    });
    const listeners = process.rawListeners('warning') as ((warning: Error) => void)[];
    process.removeAllListeners('warning');
    if (listens) {
      process.on('warning', () => {});
    }
    const files = ['pipe', 'pipe-write'].map((name) => require.resolve(`../lib/trace/destination/${name}`));
    const cached = files.map((file) => require.cache[file]);
    for (const file of files) {
      delete require.cache[file];
    }
    try {
      const { warn } = loadAnew<typeof Warning>('trace/lifecycle/warning');
      work(warn);
    } finally {
      mock.restore();
      files.forEach((file, i) => {
        delete require.cache[file];
        if (cached[i] !== undefined) {
          require.cache[file] = cached[i];
        }
      });
      process.removeAllListeners('warning');
      for (const listener of listeners) {
        process.on('warning', listener);
      }
    }
    return text;
  }

  const CODE = 'ERR_ASYNC_TRACER_WRITE';

  it('names the error, and that records are lost, where it goes on', async () => {
    assert.deepEqual(await warningsOf(() => warn(new Error('no space left'), false, false)), [
      [
        'AsyncTracerWarning',
        CODE,
        'async-tracer cannot write the log: no space left; records are lost, and counted in stats().lost.',
      ],
    ]);
  });

  it('says that tracing has stopped, where it has, whatever was thrown', async () => {
    assert.deepEqual(await warningsOf(() => warn('text', true, false)), [
      ['AsyncTracerWarning', CODE, 'async-tracer cannot write the log: text; tracing has stopped.'],
    ]);
  });

  it('tells of an error that cannot be shown', async () => {
    const odd = {
      toString() {
        throw new Error('no');
      },
    };
    assert.deepEqual(await warningsOf(() => warn(odd, true, false)), [
      [
        'AsyncTracerWarning',
        CODE,
        'async-tracer cannot write the log: an error that cannot be shown; tracing has stopped.',
      ],
    ]);
  });

  it('writes on standard error itself, as Node would, where no tick will come', (context) => {
    assert.equal(
      lastWords(context, true, (fresh) => fresh(new Error('late'), true, true)),
      `(node:${process.pid}) [${CODE}] AsyncTracerWarning: async-tracer cannot write the log: late; tracing has stopped.\n`,
    );
  });

  it('says nothing there where warnings are switched off', (context) => {
    assert.equal(
      lastWords(context, false, (fresh) => fresh(new Error('late'), true, true)),
      '',
    );
  });
});
