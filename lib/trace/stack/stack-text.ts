/** Stacks that are text: the stack of an error, and a capture that V8 makes while it formats another stack. */
import type ErrorStackParser = require('error-stack-parser');

import { uncurryThis } from '../runtime/intrinsics';
import { ANONYMOUS, frameText, type Location } from './frame-text';

const split = uncurryThis(String.prototype.split as (this: string, by: string) => string[]);
const startsWith = uncurryThis(String.prototype.startsWith);
const endsWith = uncurryThis(String.prototype.endsWith);
const slice = uncurryThis(String.prototype.slice);

let parser: typeof ErrorStackParser.default | undefined;

/** Loads error-stack-parser. Called early: a hook must not load it, and a crash may have no descriptor left. */
export function loadParser(): typeof ErrorStackParser.default {
  parser ??= (require('error-stack-parser') as typeof ErrorStackParser).default;
  return parser;
}

/** Loads what `framesOf` needs. Where that fails, `framesOf` does not split frames into name, file and position. */
export function prepareFrames(): void {
  try {
    loadParser();
  } catch {
    // See above.
  }
}

/**
 * The frames of a stack, each without its "at". Lines are split at "at" too, since a file name may contain a line feed:
 * a line that does not begin as a frame belongs to the frame before it.
 */
export function linesOf(stack: string): string[] {
  const lines = split(stack, '\n    at ');
  const frames: string[] = [];
  for (let i = 1; i < lines.length; i++) {
    frames[i - 1] = lines[i];
  }
  return frames;
}

/**
 * Reads "Type.method (/a/file.js:1:2)". Text that error-stack-parser cannot read becomes the name of a function, and so
 * does every line in a process that has no descriptor left to load the parser.
 */
export function readLine(text: string): Location {
  const isAsync = startsWith(text, 'async ') && !endsWith(text, ')');
  const stack = `    at ${isAsync ? slice(text, 6) : text}`;
  let location: Location = { functionName: text, fileName: ANONYMOUS, lineNumber: 0, columnNumber: 0 };
  try {
    const parsed = loadParser().parse({ __proto__: null, stack } as unknown as Error)[0];
    location = {
      functionName: (isAsync ? 'async ' : '') + (parsed.functionName ?? ANONYMOUS),
      fileName: parsed.fileName ?? ANONYMOUS,
      lineNumber: Number(parsed.lineNumber ?? 0),
      columnNumber: Number(parsed.columnNumber ?? 0),
    };
  } catch {
    // The language's own functions, as in "Array.map (<anonymous>)".
    if (endsWith(text, ` (${ANONYMOUS})`)) {
      location.functionName = slice(text, 0, -ANONYMOUS.length - 3);
    }
  }
  return location;
}

/** The frames of an error's `stack`, in the form that a stack payload has. */
export function framesOf(stack: string): string[] {
  return linesOf(stack).map((line) => frameText(readLine(line)));
}
