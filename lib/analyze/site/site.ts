import { type Frame, parseFrame } from './frame';
import { pathOf } from './path';

/** Which code a call site may be in: the program's own before that of packages in node_modules, or any outside Node. */
export type Code = 'user' | 'all';

/** What Node.js did between the user's call and the operation, as far as the stack shows. */
export type Via =
  /** The user's code made it, directly or by a call of a timer function or of `queueMicrotask`. */
  | 'user'
  /** The user's code called Node, and Node made it to serve the call. */
  | 'call'
  /** No frame of the user's: Node made it for itself, or the stack was too short to reach the user's code. */
  | 'node'
  /** The engine made it for the evaluation of an ES module. */
  | 'module'
  /** Opening process.stdout or process.stderr, which Node does at the first use and never undoes. */
  | 'stdio'
  /** Opening process.stdin, which keeps the process alive while the program reads there. */
  | 'stdin'
  /** The watcher behind process.on(signal), which Node unrefs. */
  | 'signal'
  /** The pool of an HTTP agent, which unrefs a connection while it is idle. */
  | 'agent'
  /** The connection pool of fetch, which does the same. */
  | 'fetch'
  /** The resolver that node:dns makes at the first use and keeps. */
  | 'resolver';

/** Where an operation was started. */
export interface Site {
  /**
   * The first frame of the user's code, or with `code: 'all'` of any code outside Node; without one, that of the nearest
   * ancestor; without that too, the first frame of a package; else undefined. Its file is a path: see `pathOf`.
   */
  frame: Frame | undefined;
  via: Via;
  /** `frame` is taken from an ancestor: see `Operations`. */
  inherited: boolean;
}

const isNode = (file: string) => file.startsWith('node:') || file.startsWith('internal/');
const isWasm = (file: string) => file.startsWith('wasm://');
const isPackage = (file: string) => /[\\/]node_modules[\\/]/.test(file);
const isPlace = (file: string) => file !== '' && file !== 'native' && file !== '<anonymous>';

/** Whether the place of a call site needs no other: it is in code that `code` asks for. */
export function isIn(code: Code, { frame }: Site): boolean {
  return frame !== undefined && (code === 'all' || !isPackage(frame.file));
}

/** The call site of a stack: its first frame of the user's code, else its first frame of a package. */
export function siteOf(stack: readonly string[], code: Code = 'user'): Site {
  const frames: Frame[] = [];
  for (const text of stack) {
    const frame = parseFrame(text);
    if (frame !== undefined && isPlace(frame.file)) {
      frame.file = pathOf(frame.file);
      frames.push(frame);
    }
  }
  const outside = frames.filter(
    ({ file }, i) => !isNode(file) && !(isWasm(file) && isCalledByNode(frames, i)),
  );
  const frame =
    (code === 'user' ? outside.find((candidate) => !isPackage(candidate.file)) : undefined) ?? outside[0];
  const above = outside.length > 0 ? frames.slice(0, frames.indexOf(outside[0])) : frames;
  const via = isModule(frames) ? 'module' : viaOf(above, frame !== undefined);
  return { frame, via, inherited: false };
}

/** WebAssembly that Node calls is a part of Node, such as the HTTP parser of fetch. */
function isCalledByNode(frames: readonly Frame[], wasm: number): boolean {
  const caller = frames.find(({ file }, i) => i > wasm && !isWasm(file));
  return caller !== undefined && isNode(caller.file);
}

/** Files of timers, ticks and AsyncResources. Their frames are above the user's where the user calls them directly. */
const DIRECT_FILES =
  /^node:((internal\/)?(timers|async_hooks)|timers\/promises|internal\/process\/task_queues|internal\/bootstrap\/node)$/;

/** The promise of a module is made at its first character, while Node instantiates the module. */
function isModule([module, caller]: readonly Frame[]): boolean {
  return (
    module?.line === 1 &&
    module.column === 1 &&
    caller?.file.startsWith('node:internal/modules/esm/') === true &&
    /instantiate/i.test(caller.function)
  );
}

/** @param above Node's frames between the operation and the code that called Node, innermost first */
function viaOf(above: readonly Frame[], called: boolean): Via {
  for (const { file, function: name } of above) {
    if (file.startsWith('node:internal/bootstrap/') && /std(in|out|err|io)/i.test(name)) {
      return /stdin/i.test(name) ? 'stdin' : 'stdio';
    }
    if (file === 'node:internal/process/signal') {
      return 'signal';
    }
    if (file === 'node:internal/dns/utils') {
      return 'resolver';
    }
    if (file === 'node:_http_agent' && /\bcreateSocket$/.test(name)) {
      return 'agent';
    }
    if (file === 'node:internal/deps/undici/undici' && /\bconnect$/.test(name)) {
      return 'fetch';
    }
  }
  if (!called) {
    return 'node';
  }
  return above.every(({ file }) => DIRECT_FILES.test(file)) ? 'user' : 'call';
}
