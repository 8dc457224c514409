import type { Payload } from './payload';
export function createContextPayload(_o: {
  depth: number;
  breadth: number;
  redact: readonly (string | RegExp)[];
}): Payload {
  return { measure: () => 0, write: (_t, p) => p };
}
