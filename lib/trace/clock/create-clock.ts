/** The clock that an option asks for. */
import type { Clock } from './clock';
import type * as CoarseClock from './coarse-clock';
import { createPreciseClock } from './precise-clock';

/** For `send: false`: nothing is encoded, so no time is needed. */
function createStillClock(): Clock {
  const nothing = (): void => {};
  return {
    text: new Float64Array(2),
    fraction: new Int32Array(1),
    capture: nothing,
    share: nothing,
    read: nothing,
    tick: nothing,
    stop: nothing,
  };
}

export function createClock(kind: 'precise' | 'coarse' | 'still'): Clock {
  switch (kind) {
    case 'precise':
      return createPreciseClock();
    case 'coarse':
      // Loaded on demand, because it loads worker_threads.
      return (require('./coarse-clock') as typeof CoarseClock).createCoarseClock();
    case 'still':
      return createStillClock();
  }
}
