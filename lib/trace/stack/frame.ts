import { basename, dirname, join, sep } from 'node:path';
import { identifyPath } from '../destination/file-identity';
import { quote } from '../payload/json';
import { createLiteral } from '../payload/literal';
import type { Literal } from '../payload/words';
import { OwnMap, uncurryThis } from '../runtime/intrinsics';
import type { CallSiteReader } from './callsites';

/** Frames kept encoded; a program that makes functions by eval without end only ever fills the table anew. */
export const FRAME_TABLE_COUNT = 8_192;

/** Bytes of encoded frames kept; whichever bound is met first empties the table. */
export const FRAME_TABLE_BYTES = 2 * 1024 * 1024;

/** Characters kept of a function's name and of a file's (a `data:` URL can be megabytes long). */
export const FUNCTION_NAME_MAX = 512;
export const FILE_NAME_MAX = 4_096;

/** What stands for a name that does not exist; V8 prints the same word. */
export const ANONYMOUS = '<anonymous>';

const startsWith = uncurryThis(String.prototype.startsWith);
const endsWith = uncurryThis(String.prototype.endsWith);
const slice = uncurryThis(String.prototype.slice as (this: string, start: number, end?: number) => string);
const includes = uncurryThis(String.prototype.includes as (this: string, part: string) => boolean);
const replace = uncurryThis(
  String.prototype.replaceAll as (this: string, part: string, by: string) => string,
);

/** Node's async_hooks: what stands between the program and our hook, and the class that the program calls. */
const NODE_ASYNC_HOOKS = ['node:internal/async_hooks', 'node:async_hooks', 'node:internal/promise_hooks'];

/**
 * The folder of the write side. Undefined where a bundler has put this module into one file with the program's code: then
 * the folder has another name, or lacks the one file that is never bundled.
 */
function ownFolder(): string | undefined {
  const folder = dirname(__dirname);
  return basename(folder) === 'trace' && identifyPath(join(folder, 'clock/ticker-thread.js')) !== undefined
    ? folder + sep
    : undefined;
}

/** Whether the frames of this file are the tracer's or those of Node's async_hooks, and stay out. */
function isLeftOut(file: string, own: string | undefined): boolean {
  if (own !== undefined && startsWith(file, own)) {
    return true;
  }
  for (let i = 0; i < NODE_ASYNC_HOOKS.length; i++) {
    if (file === NODE_ASYNC_HOOKS[i]) {
      return true;
    }
  }
  return false;
}

/** Where a frame stands, in the words of the log. */
export interface Location {
  functionName: string;
  fileName: string;
  /** 0 where V8 knows none: the language's own functions. */
  lineNumber: number;
  columnNumber: number;
}

/**
 * "functionName:fileName:lineNum:colNum". A colon in the function's name becomes %3A, and a percent sign
 * becomes %25 only before "3A" or "25", where it could be mistaken: `replace(/%(3A|25)/g, ...)` undoes both.
 */
export function frameText(location: Location): string {
  let name = location.functionName;
  if (name.length > FUNCTION_NAME_MAX) {
    name = `${slice(name, 0, FUNCTION_NAME_MAX)}...`;
  }
  if (includes(name, '%')) {
    name = replace(replace(name, '%25', '%2525'), '%3A', '%253A');
  }
  if (includes(name, ':')) {
    name = replace(name, ':', '%3A');
  }
  let file = location.fileName;
  if (file.length > FILE_NAME_MAX) {
    file = `${slice(file, 0, FILE_NAME_MAX)}...`;
  }
  return `${name}:${file}:${location.lineNumber}:${location.columnNumber}`;
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

/** A frame as it stands in the log: `"...",`. */
export class Frame {
  /** The frame that was last seen below this one: right for most stacks, and spares the look-up. */
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
    readonly fragment: Literal,
  ) {}
}

/** All scripts of one name. */
class Script {
  readonly frames = new OwnMap<number, Frame>();

  constructor(
    readonly name: string,
    readonly leftOut: boolean,
    /** Node's own: no two of one name, so that there is no need to ask for the hash. */
    readonly builtin: boolean,
  ) {}
}

const NOTHING = createLiteral('');
const NAMELESS = new Script('', false, false);

/** Stands for any frame that is left out. */
export const LEFT_OUT = new Frame(NAMELESS, 0, null, '', 0, NOTHING);

const TOPLEVEL = 1;
const CONSTRUCTOR = 2;
const ASYNC = 4;

/**
 * Encoded frames by what V8 tells cheaply of a call site: the script's name and hash, the position, the type
 * of the receiver. Lines, columns and printed names are asked for once a frame. Holds text only: a CallSite
 * would keep the functions and receivers of its whole stack alive.
 */
export class FrameTable {
  #scripts = new OwnMap<string, Script>();
  #texts = new OwnMap<string, Frame>();
  #count = 0;
  #bytes = 0;
  /** Looked for here, at the first trace with stacks: most have none. */
  readonly #ownFolder = ownFolder();
  /** Stands above the first frame of every stack. */
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
    if (script.leftOut) {
      return LEFT_OUT;
    }
    const position = sites.position(site);
    const typeName = sites.typeName(site);
    const hash = script.builtin ? '' : sites.scriptHash(site);
    let flags = 0;
    // V8 names no type where there is no receiver yet, and the global object's like any other's.
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

  /** The frame of one line of a stack that came as text, without its "at"; `read` is asked once a line. */
  findText(text: string, read: (text: string) => Location): Frame {
    let frame = this.#texts.get(text);
    if (frame === undefined) {
      const location = read(text);
      frame = isLeftOut(location.fileName, this.#ownFolder)
        ? LEFT_OUT
        : this.#intern(location, NAMELESS, 0, null, '', 0);
      this.#bytes += 2 * text.length;
      this.#texts.set(text, frame);
    }
    return frame;
  }

  /** The language's own functions, eval and new Function without a sourceURL: V8's text tells them apart. */
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
      script = new Script(name, isLeftOut(name, this.#ownFolder), startsWith(name, 'node:'));
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
    const fragment = createLiteral(`${quote(frameText(location))},`);
    this.#makeRoom(8 * fragment.words.length);
    return new Frame(script, position, typeName, hash, flags, fragment);
  }

  #makeRoom(bytes: number): void {
    if (this.#count >= FRAME_TABLE_COUNT || this.#bytes + bytes > FRAME_TABLE_BYTES) {
      this.#scripts = new OwnMap();
      this.#texts = new OwnMap();
      this.#count = 0;
      this.#bytes = 0;
      this.top.next = undefined; // or the old frames would live on behind it
    }
    this.#count++;
    this.#bytes += bytes;
  }
}
