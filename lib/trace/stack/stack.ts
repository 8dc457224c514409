import type ErrorStackParser = require('error-stack-parser');

import type { Call, Payload } from '../payload/payload';
import type { PayloadBuffer } from '../payload/payload-buffer';
import { uncurryThis } from '../runtime/intrinsics';
import { ownRealm } from './callsites';
import { ANONYMOUS, FrameTable, frameText, LEFT_OUT, type Location } from './frame';

/**
 * Frames asked for beyond the limit, of Node's async_hooks: at first, and at most. Raised for an op whose
 * stacks have more of them: each frame too many costs every stack 0.5 us, one too few costs one stack its capture.
 */
export const OWN_FRAMES = 2;
export const OWN_FRAMES_MAX = 16;

/** Ops are told apart by so many bits of their codes. */
const CODE_BITS = 0xff;

const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;

const split = uncurryThis(String.prototype.split as (this: string, by: string) => string[]);
const startsWith = uncurryThis(String.prototype.startsWith);
const endsWith = uncurryThis(String.prototype.endsWith);
const slice = uncurryThis(String.prototype.slice);

let parser: typeof ErrorStackParser.default | undefined;

/** Loaded before a hook may ask for it, or a crash, which may have used all descriptors up. */
function loadParser(): typeof ErrorStackParser.default {
  parser ??= (require('error-stack-parser') as typeof ErrorStackParser).default;
  return parser;
}

/** Shared by all tracers of a thread. */
let frames: FrameTable | undefined;
let limitInForce = -1;

/**
 * The stack at the call of `append`, innermost frame first, as a JSON array of
 * "functionName:fileName:lineNum:colNum" with at most `limit` frames; `limit` may be Infinity.
 * The tracer's own frames and those of Node's async_hooks are left out before counting.
 *
 * @throws TracerError ERR_ASYNC_TRACER_UNSUPPORTED where this Node.js cannot capture stacks
 */
export function createStackPayload(limit: number): Payload {
  const { sites } = ownRealm();
  loadParser();
  frames ??= new FrameTable(sites);
  return new StackPayload(limit, frames);
}

class StackPayload implements Payload {
  readonly #limit: number;
  readonly #frames: FrameTable;
  readonly #realm = ownRealm();
  /** By op. */
  readonly #ownFrames = new Int32Array(CODE_BITS + 1);
  #kept = 0;

  constructor(limit: number, frames: FrameTable) {
    this.#limit = limit;
    this.#frames = frames;
    for (let i = 0; i <= CODE_BITS; i++) {
      this.#ownFrames[i] = OWN_FRAMES;
    }
  }

  append(buffer: PayloadBuffer, _subject?: object, code = 0, caller?: Call): number {
    const start = buffer.length;
    const ownFrames = this.#ownFrames;
    const { RealmError, RealmObject, captureStackTrace } = this.#realm;
    const op = code & CODE_BITS;
    let above = caller;
    try {
      for (;;) {
        const asked = this.#limit + ownFrames[op];
        if (limitInForce !== asked) {
          RealmError.stackTraceLimit = asked;
          limitInForce = asked;
        }
        const holder = new RealmObject() as { stack?: unknown };
        // V8 makes no CallSites of what is above.
        captureStackTrace(holder, above);
        const trace = holder.stack;
        buffer.length = start;
        buffer.appendByte(OPENING_BRACKET);
        this.#kept = 0;
        const seen =
          typeof trace === 'string'
            ? this.#addText(buffer, trace)
            : this.#addSites(buffer, trace as NodeJS.CallSite[]);
        if (seen === 0 && above !== undefined) {
          // It is not on the stack.
          above = undefined;
          continue;
        }
        if (this.#kept >= this.#limit || seen < asked) {
          break;
        }
        // More of our frames than ever before stand in the way of the program's.
        ownFrames[op] += this.#limit - this.#kept;
      }
      if (this.#kept > 0) {
        buffer.length--; // the last comma
      }
      buffer.appendByte(CLOSING_BRACKET);
      return buffer.length - start;
    } catch {
      // The program is about to run out of stack, and has a handler of its own for that: see nothing rather
      // than end the process, as an error that leaves a hook would.
      buffer.length = start;
      return 0;
    } finally {
      // A stack that went through the tracer's or Node's own frames again and again is no measure for others.
      if (ownFrames[op] > OWN_FRAMES_MAX) {
        ownFrames[op] = OWN_FRAMES_MAX;
      }
    }
  }

  #addSites(buffer: PayloadBuffer, trace: NodeJS.CallSite[]): number {
    const table = this.#frames;
    const { length } = trace;
    // Async frames stand below all others: where the last one is none, there are none.
    const mayBeAsync = length > 0 && this.#realm.sites.isAsync(trace[length - 1]);
    let previous = table.top;
    for (let i = 0; i < length && this.#kept < this.#limit; i++) {
      const frame = table.find(trace[i], previous, mayBeAsync);
      if (frame === LEFT_OUT) {
        continue;
      }
      buffer.append(frame.fragment);
      this.#kept++;
      previous = frame;
    }
    return length;
  }

  /** While V8 formats a stack (inside the program's own prepareStackTrace), every other stack comes as text. */
  #addText(buffer: PayloadBuffer, stack: string): number {
    const table = this.#frames;
    // A file's name may hold a line feed; what does not begin as a frame goes on with the one before.
    const lines = split(stack, '\n    at ');
    for (let i = 1; i < lines.length && this.#kept < this.#limit; i++) {
      const frame = table.findText(lines[i], readLine);
      if (frame === LEFT_OUT) {
        continue;
      }
      buffer.append(frame.fragment);
      this.#kept++;
    }
    return lines.length - 1;
  }
}

/**
 * Reads "Type.method (/a/file.js:1:2)". What error-stack-parser cannot read stands as the name of a function; so does all
 * where a process without descriptors can load it no more.
 */
function readLine(text: string): Location {
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
    // the language's own functions, as in "Array.map (<anonymous>)"
    if (endsWith(text, ` (${ANONYMOUS})`)) {
      location.functionName = slice(text, 0, -ANONYMOUS.length - 3);
    }
  }
  return location;
}

/** Loads what `framesOf` asks; where it cannot, frames stand whole. */
export function prepareFrames(): void {
  try {
    loadParser();
  } catch {
    // As said.
  }
}

/** The frames of an error's `stack`, as a stack payload has them. */
export function framesOf(stack: string): string[] {
  return split(stack, '\n    at ')
    .slice(1)
    .map((line) => frameText(readLine(line)));
}
