/**
 * A hook that makes a line of every event and gives it to a writer at once. The operations that the writer makes, and
 * all that its callbacks make, are kept out by their ids; nothing else is left out.
 */

import { createHook, executionAsyncId } from 'node:async_hooks';
import { initLine, line } from './line';
import { noCounts, type Recording } from './recording';

export interface Writer {
  write(text: string): void;
  /** Ends when everything that was written is in the file. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export function rival(writer: Writer): Recording {
  const counts = noCounts();
  const own = new Set<number>();
  let ownOperations = 0;
  let writing = false;

  function write(text: string): void {
    writing = true;
    writer.write(text);
    writing = false;
  }

  const hook = createHook({
    init(id, type, trigger) {
      if (writing || own.has(executionAsyncId())) {
        own.add(id);
        ownOperations++;
        return;
      }
      counts.init++;
      write(initLine(id, type, trigger));
    },
    before(id) {
      if (own.has(id)) {
        return;
      }
      counts.before++;
      write(line(id, 'before'));
    },
    after(id) {
      if (own.has(id)) {
        return;
      }
      counts.after++;
      write(line(id, 'after'));
    },
    destroy(id) {
      if (own.delete(id)) {
        return;
      }
      counts.destroy++;
      write(line(id, 'destroy'));
    },
  }).enable();

  return {
    counts: () => ({ ...counts }),
    own: () => ownOperations,
    drain: () => writer.drain(),
    async close() {
      hook.disable();
      await writer.drain();
      await writer.close();
    },
  };
}
