import type { Groups } from '../model/groups';
import { CONTEXT, DERIVED, RAN, RAN_AGAIN, SETTLED, STACK_CUT, UNREF } from '../model/live-operations';
import type { Run } from '../model/run';
import type { Kind } from '../report/operation';
import type { Via } from '../site/site';
import type { Verdict } from './report';

/** A verdict with its reason. */
export interface Classification {
  verdict: Verdict;
  /** One word for the reason; rows are grouped by it. */
  code: string;
  reason: string;
}

/** Which of the tracer's options the records show to have been on. */
export interface Recorded {
  resolves: boolean;
  stacks: boolean;
  contexts: boolean;
}

const reason = (verdict: Verdict, code: string, text: string): Classification => ({
  verdict,
  code,
  reason: text,
});

const UNREFD = reason('kept', 'unref', 'it is unref’d, so it does not keep the process alive');
const DRAINED = reason(
  'kept',
  'drained',
  'the event loop ran out while it was there, so it kept nothing alive: it is unref’d, or was just being closed',
);
const STDIO = reason('kept', 'stdio', 'Node opened it for process.stdout or process.stderr, and keeps it');
const STDIN = reason(
  'unsure',
  'stdin',
  'Node opened it for process.stdin, and it keeps the process alive as long as the program reads there',
);
const AGENT_POOL = reason(
  'unsure',
  'agent',
  'an HTTP agent keeps it, and unrefs it while it is idle; a request that waits on it is listed separately',
);
const FETCH_POOL = reason(
  'unsure',
  'fetch',
  'fetch keeps it, and unrefs it while it is idle; one that still waits is listed as its promise, if resolve is traced',
);
const SIGNAL = reason('kept', 'signal', 'it watches for a signal, and Node unrefs such watchers');
const SERVES = reason(
  'kept',
  'serves',
  'Node started it to serve a call of the program, and unrefs such timers',
);
const OF_NODE = reason(
  'kept',
  'node',
  'no code of the program was on the stack: Node started it on its own account',
);
const COLLECTED = reason(
  'kept',
  'collected',
  'its destroy comes at garbage collection, some time after it was used, so being live tells nothing',
);
const QUEUED = reason('kept', 'queued', 'it was queued to run when the log ended');
const PARSER = reason('kept', 'parser', 'it parses what its connection receives, and ends with it');

const OPEN = reason('leak', 'open', 'it was never closed');
const FILE_OPEN = reason('leak', 'file', 'more file handles were opened than closed');
export const RUNNING = reason('leak', 'running', 'it was never cleared and has not fired for the last time');
const UNANSWERED = reason(
  'leak',
  'unanswered',
  'it was asked for and had not been answered when the log ended',
);
const PENDING = reason('leak', 'pending', 'it was never resolved or rejected');

const NO_STACKS_TIMER = reason(
  'unsure',
  'timer?',
  'it never fired; without stacks it cannot be told from the timers that Node keeps for itself and unrefs',
);
const NO_STACKS_HANDLE = reason(
  'unsure',
  'handle?',
  'without stacks it cannot be told from those that Node opens for itself, as for stdout or a signal',
);
const NO_STACKS_PROMISE = reason(
  'unsure',
  'promise?',
  'it was never resolved or rejected; without stacks it cannot be told from the few that the engine keeps for itself',
);
const MODULE = reason(
  'kept',
  'module',
  'it stands for the evaluation of a module with a top-level await, which the engine settles without telling',
);
const FIRED_LAST = reason(
  'unsure',
  'fired',
  'it fired in the last turn of the loop; a destroy may have been due that the log does not hold',
);
const SHORT_STACK = reason(
  'unsure',
  'short',
  'its stack was cut before any code of the program: record more frames',
);
const INSIDE = reason(
  'unsure',
  'inside',
  'Node made the promise inside a call of the program, and may drop it on purpose',
);
const DROPPED = reason(
  'unsure',
  'dropped',
  'it was collected as garbage before it settled, so whatever awaited it was dropped too; an unused promise ends so as well',
);
const DROPPED_NO_STACKS = reason(
  'unsure',
  'dropped?',
  'it was collected as garbage before it settled; without stacks it cannot be told from the few that the engine drops for itself',
);
const ASYNC_RESOURCE = reason(
  'unsure',
  'resource',
  'it is an AsyncResource, which ends by emitDestroy or at garbage collection; the log cannot tell which was meant',
);

/** Ops of which Node opens some for itself. Used only where the log has no stacks. */
const MAYBE_OF_NODE = new Set(['PIPE', 'TTY', 'SIGNAL', 'MESSAGEPORT']);

/**
 * Whether the loop ran out by itself: the `end` record has an exit, and no callback was open that could have called
 * process.exit. Then nothing that was live kept the process alive.
 */
export function drained(run: Run): boolean {
  return run.end?.reason === 'exit' && run.callbacks.depth === 0;
}

/**
 * Why an operation was live at the end of its run; undefined where that means nothing, as for a request that was answered.
 * The frames between the operation and the user's code show what Node keeps. The op decides only where a log has no
 * stacks, and then the verdict is at most `unsure`.
 */
export function classify(
  run: Run,
  row: number,
  groups: Groups,
  openFiles: boolean,
): Classification | undefined {
  const flags = run.live.flags[row];
  const group = run.live.group[row];
  const site = groups.siteOf(group);
  const op = groups.opOf(group);
  switch (groups.kind[group]) {
    case 'tick':
      return flags & RAN ? undefined : QUEUED;
    case 'promise':
      if (!run.resolves || flags & (SETTLED | RAN | DERIVED)) {
        return undefined;
      }
      if (site === undefined) {
        return NO_STACKS_PROMISE;
      }
      if (site.via === 'node') {
        return stackCut(flags) ?? OF_NODE;
      }
      return site.via === 'module' ? MODULE : site.via === 'user' ? PENDING : INSIDE;
    case 'timer':
      if (flags & CONTEXT && flags & UNREF) {
        return UNREFD;
      }
      if (drained(run)) {
        return DRAINED;
      }
      if (site !== undefined && site.via !== 'user') {
        return site.via === 'node' ? (stackCut(flags) ?? SERVES) : SERVES;
      }
      if (flags & RAN && !(flags & RAN_AGAIN) && firedLast(run, row)) {
        return FIRED_LAST;
      }
      return site === undefined && !(flags & RAN_AGAIN) && !(flags & CONTEXT) ? NO_STACKS_TIMER : RUNNING;
    case 'request':
      if (groups.oneShot[group]) {
        if (flags & RAN) {
          return undefined;
        }
      } else if (op !== 'HTTPCLIENTREQUEST') {
        return op === 'HTTPINCOMINGMESSAGE' ? PARSER : COLLECTED;
      }
      return drained(run) ? DRAINED : UNANSWERED;
    case 'handle':
      if (site?.via === 'stdio') {
        return STDIO;
      }
      if (site?.via === 'signal') {
        return SIGNAL;
      }
      if (drained(run)) {
        return DRAINED;
      }
      if (site?.via === 'stdin') {
        return STDIN;
      }
      if (site === undefined) {
        return MAYBE_OF_NODE.has(op!) ? NO_STACKS_HANDLE : OPEN;
      }
      if (site.via === 'agent' || site.via === 'fetch') {
        return site.via === 'agent' ? AGENT_POOL : FETCH_POOL;
      }
      return site.frame === undefined ? (stackCut(flags) ?? OF_NODE) : OPEN;
    case 'object':
      return openFiles && op === 'FILEHANDLE' ? FILE_OPEN : COLLECTED;
    case 'resource':
      return ASYNC_RESOURCE;
    default:
      return undefined;
  }
}

/** Whether the loop called this operation last, or it is still running (no after yet). */
function firedLast(run: Run, row: number): boolean {
  const last = run.live.last[row];
  return last === 0 || last >= run.lastLoopTurn;
}

/** The same for promises that were collected as garbage before they settled. */
export function classifyCollected(via: Via | undefined): Classification | undefined {
  if (via === undefined) {
    return DROPPED_NO_STACKS;
  }
  return via === 'user' ? DROPPED : undefined;
}

function stackCut(flags: number): Classification | undefined {
  return flags & STACK_CUT ? SHORT_STACK : undefined;
}

/** What the log does not show because an option was off, as sentences. */
export function limitationsOf(
  recorded: Recorded,
  live: Record<Kind, number>,
  runs: readonly Run[],
): string[] {
  const notes: string[] = [];
  const any = Object.values(live).some((number) => number > 0);
  if (any && !recorded.stacks) {
    notes.push(
      'The log has no stacks, so call sites are missing, and some of what Node keeps cannot be told from leaks: trace with stacks (--stacks).',
    );
  }
  if (live.timer > 0 && !recorded.contexts && runs.some((run) => run.end?.active === undefined)) {
    notes.push(
      'The log has no contexts of timers, so one that is unref’d, and keeps nothing alive, cannot be told from others: trace with contexts (--contexts), which tell it of timers that have fired.',
    );
  }
  if (live.promise > 0 && !recorded.resolves) {
    notes.push(
      'The log does not record when promises settle, so it cannot tell which never did: trace with resolve (--resolve).',
    );
  }
  if (any && runs.some((run) => run.end === undefined)) {
    notes.push(
      'A run has no end record, so it was killed, cut off, still going, or traced without header: what was open may have been in use, and was open for some time after the last record.',
    );
  } else if (any && runs.some((run) => run.end?.reason === 'close')) {
    notes.push('The trace was closed before the program ended: what was open may have been in use.');
  }
  return notes;
}
