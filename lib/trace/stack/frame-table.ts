/** The frames that were met, each with its encoded text. */
import { basename, dirname, join, sep } from 'node:path';
import { quote } from '../payload/json';
import { createLiteral } from '../payload/literal';
import type { Literal } from '../payload/text-as-doubles';
import { identifyPath } from '../runtime/file-identity';
import { OwnMap, uncurryThis } from '../runtime/intrinsics';
import type { CallSiteReader } from './callsites';
import { ANONYMOUS, frameText, type Location } from './frame-text';

/** Encoded frames kept. A program that makes functions by eval without end fills the table again and again. */
export const FRAME_TABLE_COUNT = 8_192;

/** Bytes of encoded frames kept. The table is emptied when either bound is reached. */
export const FRAME_TABLE_BYTES = 2 * 1024 * 1024;

const startsWith = uncurryThis(String.prototype.startsWith);
const endsWith = uncurryThis(String.prototype.endsWith);
const slice = uncurryThis(String.prototype.slice as (this: string, start: number, end?: number) => string);

/** Files of Node's async_hooks: what stands between the program and the hook, and the class that the program calls. */
const NODE_ASYNC_HOOKS = ['node:internal/async_hooks', 'node:async_hooks', 'node:internal/promise_hooks'];

/**
 * The folder of the write side. Undefined where a bundler has put this module into one file with the program's code: the
 * folder then has another name, or it lacks ticker-thread.js, the one file that is never bundled.
 */
function tracerFolder(): string | undefined {
  const folder = dirname(__dirname);
  return basename(folder) === 'trace' && identifyPath(join(folder, 'clock/ticker-thread.js')) !== undefined
    ? folder + sep
    : undefined;
}

/** Whether a frame of this file belongs to the tracer or to Node's async_hooks. Such frames are omitted. */
function isOmittedFile(file: string, tracer: string | undefined): boolean {
  if (tracer !== undefined && startsWith(file, tracer)) {
    return true;
  }
  for (let i = 0; i < NODE_ASYNC_HOOKS.length; i++) {
    if (file === NODE_ASYNC_HOOKS[i]) {
      return true;
    }
  }
  return false;
}

/** Reads a CallSite as V8 prints it: `Type.method [as alias]`, `new Type`, `async name`. */
function locate(site: NodeJS.CallSite, sites: CallSiteReader): Location {
  const text = sites.text(site);
  const script = sites.scriptName(site);
  const lineNumber = sites.lineNumber(site);
  const columnNumber = sites.columnNumber(site);
  let fileName = typeof script === 'string' && script !== '' ? script : ANONYMOUS;
  if (typeof script !== 'string' && sites.isEval(site)) {
    fileName = `${sites.evalOrigin(site)}, ${fileName}`;
  }
  let place = fileName;
  if (typeof lineNumber === 'number') {
    place += `:${lineNumber}`;
  }
  if (typeof lineNumber === 'number' && typeof columnNumber === 'number') {
    place += `:${columnNumber}`;
  }
  let functionName = text;
  if (text === place) {
    functionName = ANONYMOUS;
  } else if (text === `async ${place}`) {
    functionName = `async ${ANONYMOUS}`;
  } else if (endsWith(text, ` (${place})`)) {
    functionName = slice(text, 0, text.length - place.length - 3);
  }
  return { functionName, fileName, lineNumber: lineNumber ?? 0, columnNumber: columnNumber ?? 0 };
}

/** A frame as the log has it: `"...",`. */
export class Frame {
  /** The frame last seen below this one. It is the right one for most stacks, and saves the look-up. */
  next: Frame | undefined = undefined;
  /** Another frame at the same position of a script of this name. */
  sibling: Frame | undefined = undefined;

  constructor(
    readonly script: Script,
    readonly position: number,
    readonly typeName: string | null,
    readonly hash: string,
    /** isToplevel, isConstructor and isAsync as bits. */
    readonly flags: number,
    readonly literal: Literal,
  ) {}
}

/** All scripts of one name. */
class Script {
  readonly frames = new OwnMap<number, Frame>();

  constructor(
    readonly name: string,
    readonly isOmitted: boolean,
    /** Part of Node: no two such scripts have one name, so the hash is not needed. */
    readonly isBuiltin: boolean,
  ) {}
}

const NOTHING = createLiteral('');
const NAMELESS = new Script('', false, false);

/** Stands for every frame that is omitted. */
export const OMITTED = new Frame(NAMELESS, 0, null, '', 0, NOTHING);

const TOPLEVEL = 1;
const CONSTRUCTOR = 2;
const ASYNC = 4;

/**
 * Encoded frames, found by what V8 gives cheaply of a call site: the script's name and hash, the position, the type of
 * the receiver. Lines, columns and printed names are read once a frame. The table keeps text only: a CallSite would keep
 * the functions and receivers of its whole stack alive.
 */
export class FrameTable {
  #scripts = new OwnMap<string, Script>();
  #texts = new OwnMap<string, Frame>();
  #count = 0;
  #bytes = 0;
  /** Found at the first trace with stacks, since most traces have none. */
  readonly #tracerFolder = tracerFolder();
  /** Above the first frame of every stack. */
  readonly top = new Frame(NAMELESS, 0, null, '', 0, NOTHING);

  constructor(private readonly sites: CallSiteReader) {}

  /** The frame of a call site; `previous` is the frame above it in the stack. */
  find(site: NodeJS.CallSite, previous: Frame, mayBeAsync: boolean): Frame {
    const sites = this.sites;
    const name = sites.scriptName(site);
    if (typeof name !== 'string' || name === '') {
      return this.#findNameless(site);
    }
    const guess = previous.next;
    const script = guess !== undefined && guess.script.name === name ? guess.script : this.#script(name);
    if (script.isOmitted) {
      return OMITTED;
    }
    const position = sites.position(site);
    const typeName = sites.typeName(site);
    const hash = script.isBuiltin ? '' : sites.scriptHash(site);
    let flags = 0;
    // V8 gives no type where there is no receiver yet, and gives the global object's type as any other.
    if (typeName === null && sites.isConstructor(site)) {
      flags = CONSTRUCTOR;
    } else if (typeName === 'Object' && sites.isToplevel(site)) {
      flags = TOPLEVEL;
    }
    if (mayBeAsync && sites.isAsync(site)) {
      flags |= ASYNC;
    }
    let frame = guess;
    if (
      frame === undefined ||
      frame.position !== position ||
      frame.typeName !== typeName ||
      frame.script !== script ||
      frame.hash !== hash ||
      frame.flags !== flags
    ) {
      frame = script.frames.get(position);
      while (
        frame !== undefined &&
        (frame.typeName !== typeName || frame.hash !== hash || frame.flags !== flags)
      ) {
        frame = frame.sibling;
      }
      if (frame === undefined) {
        frame = this.#intern(locate(site, sites), script, position, typeName, hash, flags);
        frame.sibling = script.frames.get(position);
        script.frames.set(position, frame);
      }
      previous.next = frame;
    }
    return frame;
  }

  /** The frame of one line of a stack that is text, without its "at". `read` is called once for each distinct line. */
  findText(text: string, read: (text: string) => Location): Frame {
    let frame = this.#texts.get(text);
    if (frame === undefined) {
      const location = read(text);
      frame = isOmittedFile(location.fileName, this.#tracerFolder)
        ? OMITTED
        : this.#intern(location, NAMELESS, 0, null, '', 0);
      this.#bytes += 2 * text.length;
      this.#texts.set(text, frame);
    }
    return frame;
  }

  /** Built-in functions, eval and new Function without a sourceURL: V8's text distinguishes them. */
  #findNameless(site: NodeJS.CallSite): Frame {
    const text = this.sites.text(site);
    let frame = this.#texts.get(text);
    if (frame === undefined) {
      frame = this.#intern(locate(site, this.sites), NAMELESS, 0, null, '', 0);
      this.#bytes += 2 * text.length;
      this.#texts.set(text, frame);
    }
    return frame;
  }

  #script(name: string): Script {
    let script = this.#scripts.get(name);
    if (script === undefined) {
      script = new Script(name, isOmittedFile(name, this.#tracerFolder), startsWith(name, 'node:'));
      this.#makeRoom(2 * name.length);
      this.#scripts.set(name, script);
    }
    return script;
  }

  #intern(
    location: Location,
    script: Script,
    position: number,
    typeName: string | null,
    hash: string,
    flags: number,
  ): Frame {
    const literal = createLiteral(`${quote(frameText(location))},`);
    this.#makeRoom(8 * literal.words.length);
    return new Frame(script, position, typeName, hash, flags, literal);
  }

  #makeRoom(bytes: number): void {
    if (this.#count >= FRAME_TABLE_COUNT || this.#bytes + bytes > FRAME_TABLE_BYTES) {
      this.#scripts = new OwnMap();
      this.#texts = new OwnMap();
      this.#count = 0;
      this.#bytes = 0;
      this.top.next = undefined; // otherwise the old frames would stay reachable
    }
    this.#count++;
    this.#bytes += bytes;
  }
}
