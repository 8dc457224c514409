/** Forces a garbage collection. Without it a promise that nothing references looks like one that is waited for. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/** Does nothing where the engine does not offer it. */
export function collectGarbage(): void {
  if (collect === undefined) {
    collect = (globalThis as { gc?: () => void }).gc;
    if (collect === undefined) {
      setFlagsFromString('--expose-gc');
      try {
        collect = runInNewContext('typeof gc === "function" ? gc : undefined') as (() => void) | undefined;
      } finally {
        setFlagsFromString('--no-expose-gc');
      }
    }
    collect ??= () => {};
  }
  collect();
}
