/** One fs.write an event, as async-tracer 0.6.1 did it, but with a look at what came of each write. */

import fs from 'node:fs';
import type { Recording } from './recording';
import { rival } from './rival';

export function fsWrite(log: string): Recording {
  const fd = fs.openSync(log, 'a');
  let pending = 0;
  let drained: (() => void) | undefined;

  function written(error: NodeJS.ErrnoException | null, bytes: number, text: string): void {
    if (error !== null) {
      throw error;
    }
    if (bytes !== Buffer.byteLength(text)) {
      throw new Error(`wrote ${bytes} bytes of ${JSON.stringify(text)}`);
    }
    pending--;
    if (pending === 0) {
      drained?.();
    }
  }

  return rival({
    write(text) {
      pending++;
      fs.write(fd, text, written);
    },
    async drain() {
      // Once: the wait itself is traced, so a few writes are always on their way when it ends.
      if (pending === 0) {
        return;
      }
      await new Promise<void>((resolve) => {
        drained = resolve;
      });
    },
    async close() {
      fs.closeSync(fd);
    },
  });
}
