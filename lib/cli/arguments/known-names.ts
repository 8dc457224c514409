/** The names of ops and areas that `include` and `exclude` may use, and the nearest one to a misspelt name. */
import { asyncWrapProviders } from 'node:async_hooks';
import { AREAS, opOf, opsOfNode } from '../../log/area';
import { settings } from './settings';

/** Every area, and every op of Node.js itself. */
export function knownNames(): string[] {
  const providers = Object.keys(asyncWrapProviders).map((type) => opOf(type, true));
  return [...new Set([...AREAS, ...opsOfNode(), ...providers])];
}

/** The known name that is nearest: also TCP where the type TCPWRAP was given. */
export function nearestName(text: string, known: readonly string[]): string | undefined {
  const op = opOf(text, true);
  return op !== text && known.includes(op) ? op : settings().nearest(text, known);
}

/** Whether it is one name, and no glob or regular expression. */
export function isName(text: string): boolean {
  return !/^\/|[*?]/.test(text);
}

/** The end of a message; empty where no name is near. */
export function suggestion(near: string | undefined): string {
  return near === undefined ? '' : ` Is ${near} meant?`;
}
