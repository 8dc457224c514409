/** One string write an event into a SonicBoom with the settings that pino's own destination has. */

import { once } from 'node:events';
import { SonicBoom } from 'sonic-boom';
import type { Recording } from './recording';
import { rival } from './rival';

export function sonicBoom(log: string, minLength: number): Recording {
  const stream = new SonicBoom({ dest: log, sync: true, minLength });
  return rival({
    write(text) {
      stream.write(text);
    },
    drain: async () => {},
    async close() {
      const closed = once(stream, 'close');
      stream.end();
      await closed;
    },
  });
}
