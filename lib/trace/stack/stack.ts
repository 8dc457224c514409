/** The `stack` of an init record. */
import type { Call, Payload } from '../payload/payload';
import type { PayloadBuffer } from '../payload/payload-buffer';
import { captureContext } from './callsites';
import { FrameTable, OMITTED } from './frame-table';
import { linesOf, loadParser, readLine } from './stack-text';

/**
 * Frames captured beyond the limit, because those of Node's async_hooks are omitted: at first, and at most. The number is
 * raised for an op whose stacks have more of them. A frame too many costs every stack 0.5 us; a frame too few costs one
 * stack a second capture.
 */
export const EXTRA_FRAMES = 2;
export const EXTRA_FRAMES_MAX = 16;

/** The bits of an op's code by which the number of extra frames is kept. */
const CODE_BITS = 0xff;

const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;

/** Shared by all tracers of a thread. */
let frames: FrameTable | undefined;
let limitInForce = -1;

/**
 * The stack at the call of `append`, innermost frame first, as a JSON array of
 * "functionName:fileName:lineNum:colNum" with at most `limit` frames; `limit` may be Infinity.
 * The frames of the tracer and of Node's async_hooks are left out before counting.
 *
 * @throws TracerError ERR_ASYNC_TRACER_UNSUPPORTED where this Node.js cannot capture stacks
 */
export function createStackPayload(limit: number): Payload {
  const { sites } = captureContext();
  loadParser();
  frames ??= new FrameTable(sites);
  return new StackPayload(limit, frames);
}

class StackPayload implements Payload {
  readonly #limit: number;
  readonly #frames: FrameTable;
  readonly #context = captureContext();
  /** By op. */
  readonly #extraFrames = new Int32Array(CODE_BITS + 1);
  /** Frames written to the array that is being made. */
  #written = 0;

  constructor(limit: number, frames: FrameTable) {
    this.#limit = limit;
    this.#frames = frames;
    for (let i = 0; i <= CODE_BITS; i++) {
      this.#extraFrames[i] = EXTRA_FRAMES;
    }
  }

  append(buffer: PayloadBuffer, _subject?: object, code = 0, caller?: Call): number {
    const start = buffer.length;
    const extraFrames = this.#extraFrames;
    const { VmError, VmObject, captureStackTrace } = this.#context;
    const op = code & CODE_BITS;
    let above = caller;
    try {
      for (;;) {
        const asked = this.#limit + extraFrames[op];
        if (limitInForce !== asked) {
          VmError.stackTraceLimit = asked;
          limitInForce = asked;
        }
        const target = new VmObject() as { stack?: unknown };
        // V8 makes no CallSites of the frames above this function.
        captureStackTrace(target, above);
        const trace = target.stack;
        buffer.length = start;
        buffer.appendByte(OPENING_BRACKET);
        this.#written = 0;
        const seen =
          typeof trace === 'string'
            ? this.#addText(buffer, trace)
            : this.#addSites(buffer, trace as NodeJS.CallSite[]);
        if (seen === 0 && above !== undefined) {
          // The function is not on the stack.
          above = undefined;
          continue;
        }
        if (this.#written >= this.#limit || seen < asked) {
          break;
        }
        // More omitted frames than in any stack of this op before.
        extraFrames[op] += this.#limit - this.#written;
      }
      if (this.#written > 0) {
        buffer.length--; // the last comma
      }
      buffer.appendByte(CLOSING_BRACKET);
      return buffer.length - start;
    } catch {
      // The program has nearly used up its stack, and handles that itself. An error that leaves a hook would end the
      // process, so the record goes without a stack.
      buffer.length = start;
      return 0;
    } finally {
      // A stack that passes through omitted frames many times says nothing about other stacks.
      if (extraFrames[op] > EXTRA_FRAMES_MAX) {
        extraFrames[op] = EXTRA_FRAMES_MAX;
      }
    }
  }

  #addSites(buffer: PayloadBuffer, trace: NodeJS.CallSite[]): number {
    const table = this.#frames;
    const { length } = trace;
    // Async frames stand below all others: where the last frame is not async, none is.
    const mayBeAsync = length > 0 && this.#context.sites.isAsync(trace[length - 1]);
    let previous = table.top;
    for (let i = 0; i < length && this.#written < this.#limit; i++) {
      const frame = table.find(trace[i], previous, mayBeAsync);
      if (frame === OMITTED) {
        continue;
      }
      buffer.append(frame.literal);
      this.#written++;
      previous = frame;
    }
    return length;
  }

  /** While V8 formats a stack (inside the program's own prepareStackTrace), it gives every other stack as text. */
  #addText(buffer: PayloadBuffer, stack: string): number {
    const table = this.#frames;
    const lines = linesOf(stack);
    for (let i = 0; i < lines.length && this.#written < this.#limit; i++) {
      const frame = table.findText(lines[i], readLine);
      if (frame === OMITTED) {
        continue;
      }
      buffer.append(frame.literal);
      this.#written++;
    }
    return lines.length;
  }
}
