/**
 * Preloaded (`node -r`) into a program under test: watches every operation with a plain async_hooks listener that keeps
 * all in memory, starts the tracer beside it, and at exit writes down what it saw (see `Watched`). In every process and
 * thread of the program, each with files of its own.
 *
 * Nothing here asks the tracer what belongs to the tracer. An operation is the tracer's own when a file of the tracer
 * or of its dependencies is on the stack where it is made, or when it is made in a callback of such an operation.
 */
import { createHook, executionAsyncId } from 'node:async_hooks';
import { createWriteStream, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { threadId } from 'node:worker_threads';

/** What the listener saw of one process or thread. Events stand in the order in which Node reported them. */
export interface Watched {
  events: WatchedEvent[];
  /** Date.now() before the tracer was started and after the last event. */
  epoch: [start: number, end: number];
  /** The tracer's own account, of each tracer in the process. */
  stats: unknown[];
  /** The logs, of each tracer in the process. */
  logs: string[];
}

/**
 * One event: `t` is the listener's own performance.now(), read before the tracer's hook runs.
 * `on` and `off` stand where tracing began and ended, and have the id 0.
 */
export interface WatchedEvent {
  phase: 'init' | 'before' | 'after' | 'destroy' | 'resolve' | 'on' | 'off';
  id: number;
  t: number;
  /** init: as async_hooks names it. */
  type?: string;
  trigger?: number;
  execution?: number;
  /** init: made by the tracer. */
  own?: true;
}

/** What the listener is told through the environment variable CONFORMANCE, as JSON. */
export interface Plan {
  /** Where logs and dumps go. */
  folder: string;
  /** The tracer's options; a string of the form /x/ in include and exclude stands for that regular expression. */
  options: Record<string, unknown>;
  /** How many tracers run side by side. */
  tracers: number;
  destination: 'path' | 'fd' | 'stream';
  /** When the tracer starts: before the program, or in its first immediate, when operations are under way. */
  start: 'preload' | 'immediate';
  /** Whether the listener asks for destroys, and so turns Node's tracking of promises on. */
  destroy: boolean;
  /** Who ends the log: the tracer at exit, or a call of close(). */
  end: 'exit' | 'close';
}

interface TracerLike {
  enable(): void;
  disable(): void;
  close(): Promise<void>;
  stats(): unknown;
}

const plan: Plan = JSON.parse(process.env.CONFORMANCE as string);
const { now } = performance;
const root = path.join(__dirname, '../../..');
const OWN_PATHS = [
  path.join(root, 'dist/lib') + path.sep,
  ...['sonic-boom', 'atomic-sleep', 'on-exit-leak-free', 'error-stack-parser', 'stackframe'].map(
    (name) => path.join(root, 'node_modules', name) + path.sep,
  ),
];

const events: WatchedEvent[] = [];
const ownIds = new Set<number>();

/** Whether a file of the tracer is on the stack; the frames of those that await (`at async`) are not. */
function calledByTracer(): boolean {
  const { stackTraceLimit } = Error;
  const prepare = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  delete (Error as { prepareStackTrace?: unknown }).prepareStackTrace;
  const frames = (new Error().stack as string).split('\n');
  Error.stackTraceLimit = stackTraceLimit;
  if (prepare !== undefined) Object.defineProperty(Error, 'prepareStackTrace', prepare);
  return frames.some(
    (frame) => !frame.startsWith('    at async ') && OWN_PATHS.some((prefix) => frame.includes(prefix)),
  );
}

function event(phase: WatchedEvent['phase']): (id: number) => void {
  return (id) => {
    events.push({ phase, id, t: now.call(performance) });
  };
}

const hook = createHook({
  init(id, type, trigger) {
    const t = now.call(performance);
    const execution = executionAsyncId();
    const own = ownIds.has(execution) || calledByTracer();
    if (own) ownIds.add(id);
    events.push({ phase: 'init', id, t, type, trigger, execution, ...(own ? { own } : {}) });
  },
  before: event('before'),
  after: event('after'),
  ...(plan.destroy ? { destroy: event('destroy') } : {}),
  ...(plan.options['resolve'] ? { promiseResolve: event('resolve') } : {}),
});
hook.enable();

const name = path.join(plan.folder, `${process.pid}-${threadId}`);
const logs = Array.from({ length: plan.tracers }, (_, number) => `${name}-${number}.ndjson`);
const epochStart = Date.now();
const tracers: TracerLike[] = [];

function patterns(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(patterns);
  if (typeof value !== 'string' || !/^\/.+\/$/.test(value)) return value;
  return new RegExp(value.slice(1, -1));
}

function mark(phase: 'on' | 'off'): void {
  events.push({ phase, id: 0, t: now.call(performance) });
}

function start(): void {
  const asyncTracer = require('../../lib/main');
  const { include, exclude, ...rest } = plan.options;
  const options = {
    ...rest,
    ...(include === undefined ? {} : { include: patterns(include) }),
    ...(exclude === undefined ? {} : { exclude: patterns(exclude) }),
  };
  // All before the first tracer starts: what a stream begins with is the program's.
  const destinations = logs.map((log) => {
    if (plan.destination === 'path') return log;
    const fd = openSync(log, 'w');
    return plan.destination === 'fd' ? fd : createWriteStream('', { fd });
  });
  for (const destination of destinations) tracers.push(asyncTracer(destination, options));
  mark('on');
  // Registered after the tracer's own listener, so that it runs last, and no event follows it.
  process.on('exit', dump);
}

/** For programs that toggle the tracer: what they do is done to every tracer, and marked. */
(globalThis as Record<string, unknown>)['conformance'] = {
  enable() {
    for (const tracer of tracers) tracer.enable();
    mark('on');
  },
  disable() {
    for (const tracer of tracers) tracer.disable();
    mark('off');
  },
  /** Every tracer of this process, for calls that change nothing of what is traced. */
  tracers,
};

if (plan.start === 'preload') start();
else setImmediate(start);

function dump(): void {
  if (plan.end === 'close') for (const tracer of tracers) tracer.close();
  hook.disable();
  const watched: Watched = {
    events,
    epoch: [epochStart, Date.now()],
    stats: tracers.map((tracer) => tracer.stats()),
    logs,
  };
  writeFileSync(`${name}.watched.json`, JSON.stringify(watched));
}
