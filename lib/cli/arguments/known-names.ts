/** The names by which a person may choose operations, and which of them was perhaps meant. */
import { asyncWrapProviders } from 'node:async_hooks';
import { AREAS, opOf, opsOfNode } from '../../log/area';
import { settings } from './settings';

/** Every area, and every op that Node.js has by itself. */
export function knownNames(): string[] {
  const providers = Object.keys(asyncWrapProviders).map((type) => opOf(type, true));
  return [...new Set([...AREAS, ...opsOfNode(), ...providers])];
}

/** What was perhaps meant: also TCP where the type TCPWRAP was named. */
export function meantBy(text: string, known: readonly string[]): string | undefined {
  const op = opOf(text, true);
  return op !== text && known.includes(op) ? op : settings().nearest(text, known);
}

/** Whether it is one name, and no glob or regular expression. */
export function isName(text: string): boolean {
  return !/^\/|[*?]/.test(text);
}

/** For the end of a message; empty where nothing is near. */
export function asking(near: string | undefined): string {
  return near === undefined ? '' : ` Is ${near} meant?`;
}
