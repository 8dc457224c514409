/** The names of ops and areas that `include` and `exclude` may use, and the nearest one to a misspelt name. */
import { settings } from './settings';

/** Every area, and every op of Node.js itself. */
export function knownNames(): string[] {
  return settings().knownNames();
}

/** The known name that is nearest; undefined where none is near. */
export function nearestName(text: string, known: readonly string[]): string | undefined {
  return settings().nearestName(text, known);
}

/** Whether it is one name, and no glob or regular expression. */
export function isName(text: string): boolean {
  return !/^\/|[*?]/.test(text);
}

/** The end of a message; empty where no name is near. */
export function suggestion(near: string | undefined): string {
  return near === undefined ? '' : ` Is ${near} meant?`;
}
