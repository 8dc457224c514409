/** The names of ops and areas that `include` and `exclude` may use, and the nearest one to a misspelt name. */
import { asyncWrapProviders } from 'node:async_hooks';
import { AREAS, opOf, opsOfNode } from '../../log/area';
import { nearest } from './nearest-name';

/** Every area, and every op of Node.js itself. */
export function knownNames(): string[] {
  const providers = Object.keys(asyncWrapProviders).map((type) => opOf(type, true));
  return [...new Set([...AREAS, ...opsOfNode(), ...providers])];
}

/** The known name that is nearest: also TCP where the type TCPWRAP was given. */
export function nearestName(text: string, known: readonly string[]): string | undefined {
  const op = opOf(text, true);
  return op !== text && known.includes(op) ? op : nearest(text, known);
}
