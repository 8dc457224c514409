/** What the end of the process tells the tracers that live. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type * as Exit from '../lib/trace/lifecycle/exit';
import { loadAnew } from './support/modules';

describe('exit', () => {
  type Listener = (...args: unknown[]) => void;
  const EVENTS = ['exit', 'uncaughtExceptionMonitor'] as const;

  function listeners(event: string): Listener[] {
    return process.rawListeners(event) as Listener[];
  }

  /** One tracer that lives, and what it is told; the listeners that it brought, to be called without an end. */
  function live(context: TestContext) {
    const before = EVENTS.map(listeners);
    const { addExitHandler, removeExitHandler } = loadAnew<typeof Exit>('trace/lifecycle/exit');
    const told: unknown[] = [];
    const handler: Exit.ExitHandler = {
      onExit: (ending) => told.push(ending),
      onEndingChanged: (ending) => told.push(['amended', ending]),
      flush: () => told.push('flush'),
    };
    addExitHandler(handler);
    const [onExit, onFatal] = EVENTS.map((event, i) => {
      const added = listeners(event).filter((listener) => !before[i].includes(listener));
      assert.equal(added.length, 1);
      return added[0];
    });
    context.after(() => {
      removeExitHandler(handler);
      assert.deepEqual(EVENTS.map(listeners), before);
    });
    return { addExitHandler, removeExitHandler, handler, told, onExit, onFatal };
  }

  /** Runs `work` as if the process were ending with this code. */
  function whileExiting(exitCode: number | undefined, work: () => void): void {
    const ending = process as { _exiting?: boolean };
    const { _exiting: was } = ending;
    const { exitCode: codeWas } = process;
    ending._exiting = true;
    process.exitCode = exitCode;
    try {
      work();
    } finally {
      ending._exiting = was;
      process.exitCode = codeWas;
    }
  }

  it('listens to nothing once the last tracer is forgotten, and forgets one twice without harm', (context) => {
    const { removeExitHandler, handler, told } = live(context);
    removeExitHandler(handler);
    removeExitHandler(handler);
    assert.deepEqual(told, []);
  });

  it('tells a tracer of the end with the exit code as it stands', (context) => {
    const { told, onExit } = live(context);
    whileExiting(7, () => onExit());
    assert.deepEqual(told, [{ exitcode: 7, error: undefined }]);
  });

  it('counts an exit code that nobody set as 0', (context) => {
    const { told, onExit } = live(context);
    whileExiting(undefined, () => onExit());
    assert.deepEqual(told, [{ exitcode: 0, error: undefined }]);
  });

  it('flushes at an exit that is none, and hears of the next one still', async (context) => {
    const { told, onExit } = live(context);
    onExit();
    assert.deepEqual(told, ['flush']);
    await new Promise(process.nextTick);
    whileExiting(0, () => onExit());
    assert.deepEqual(told, ['flush', { exitcode: 0, error: undefined }]);
  });

  it('names the error that ends the process', (context) => {
    const { told, onExit, onFatal } = live(context);
    const thrown = new Error('boom');
    onFatal(thrown);
    whileExiting(1, () => onExit());
    assert.deepEqual(told, ['flush', { exitcode: 1, error: { thrown } }]);
  });

  it('does not name an error that was handled', async (context) => {
    const { told, onExit, onFatal } = live(context);
    onFatal(new Error('handled'));
    await new Promise(process.nextTick);
    whileExiting(0, () => onExit());
    assert.deepEqual(told, ['flush', { exitcode: 0, error: undefined }]);
  });

  it('ends with an error that an exit listener before ours throws, and only once', (context) => {
    const { told, onExit, onFatal } = live(context);
    const thrown = new Error('in a listener');
    whileExiting(0, () => {
      onFatal(thrown);
      onExit();
    });
    assert.deepEqual(told, [{ exitcode: undefined, error: { thrown } }]);
  });

  it('amends the end where process.exit comes to another code than the listeners found', (context) => {
    const { told, onExit } = live(context);
    const its = process as unknown as { reallyExit: (code?: number) => void };
    const { reallyExit } = its;
    const left: unknown[] = [];
    its.reallyExit = (code) => left.push(code);
    try {
      whileExiting(0, () => {
        onExit();
        its.reallyExit(0);
        its.reallyExit(7);
      });
    } finally {
      its.reallyExit = reallyExit;
    }
    const error = undefined;
    assert.deepEqual(told, [{ exitcode: 0, error }, ['amended', { exitcode: 7, error }]]);
    assert.deepEqual(left, [0, 7]);
  });

  it('amends the end where a listener behind ours throws', (context) => {
    const { told, onExit, onFatal } = live(context);
    const thrown = new Error('in a later listener');
    whileExiting(0, () => {
      onExit();
      onFatal(thrown);
    });
    assert.deepEqual(told, [
      { exitcode: 0, error: undefined },
      ['amended', { exitcode: undefined, error: { thrown } }],
    ]);
  });

  it('finishes a tracer at once that is made by an exit listener', (context) => {
    const { addExitHandler, removeExitHandler, onExit } = live(context);
    const late: unknown[] = [];
    const handler: Exit.ExitHandler = {
      onExit: (ending) => late.push(ending),
      onEndingChanged: (ending) => late.push(['amended', ending]),
      flush: () => late.push('flush'),
    };
    whileExiting(3, () => {
      onExit();
      addExitHandler(handler);
    });
    removeExitHandler(handler);
    assert.deepEqual(late, [{ exitcode: 3, error: undefined }]);
  });
});
