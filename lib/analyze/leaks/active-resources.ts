import type { Run } from '../model/run';
import { type Classification, RUNNING } from './verdict';

/**
 * The types of process.getActiveResourcesInfo() by op, as Node 20, 22, 24 and 26 list them. Only what is ref'd is listed.
 * Ops that are missing here are never listed, though some keep a process alive: WORKER, QUERY, ZLIB, those of crypto, and
 * WRITE over TLS.
 */
const TYPES = new Map([
  ['FSEVENT', 'FSEventWrap'],
  ['FSREQCALLBACK', 'FSReqCallback'],
  ['FSREQPROMISE', 'FSReqPromise'],
  ['GETADDRINFOREQ', 'GetAddrInfoReqWrap'],
  ['GETNAMEINFOREQ', 'GetNameInfoReqWrap'],
  ['MESSAGEPORT', 'MessagePort'],
  ['PIPE', 'PipeWrap'],
  ['PIPESERVER', 'PipeWrap'],
  ['PIPECONNECT', 'ConnectWrap'],
  ['PROCESS', 'ProcessWrap'],
  ['STATWATCHER', 'StatWatcher'],
  ['TCP', 'TCPSocketWrap'],
  ['TCPCONNECT', 'ConnectWrap'],
  ['TCPSERVER', 'TCPServerWrap'],
  ['TTY', 'TTYWrap'],
  ['Timeout', 'Timeout'],
  ['UDP', 'UDPWrap'],
]);

const INACTIVE: Classification = {
  verdict: 'kept',
  code: 'inactive',
  reason:
    'Node did not list its type as active when the log ended, so it kept nothing alive: it is unref’d or idle',
};

/** What Node listed as active at the end of one run, compared with what was live in the log. */
export class ActiveResources {
  readonly #active: Readonly<Record<string, unknown>>;
  /** By type, the live operations that may be among the active ones. */
  readonly #live = new Map<string, number>();
  /** By type, the standard streams: they are always listed, and keep nothing alive. */
  readonly #stdio = new Map<string, number>();

  private constructor(active: object) {
    this.#active = active as Record<string, unknown>;
  }

  /** Undefined where the run has no end record, or one without `active`. */
  static of(run: Run): ActiveResources | undefined {
    const active: unknown = run.end?.active;
    return typeof active === 'object' && active !== null ? new ActiveResources(active) : undefined;
  }

  /** Called for each live operation of the run, before `judge` and `confirmed`. */
  add(op: string | undefined, { verdict, code }: Classification): void {
    const type = TYPES.get(op!);
    const counts = code === 'stdio' ? this.#stdio : verdict === 'kept' ? undefined : this.#live;
    if (type !== undefined && counts !== undefined) {
      counts.set(type, (counts.get(type) ?? 0) + 1);
    }
  }

  /** The classification, changed where Node's list decides it: an operation of a type that is not active is no leak. */
  judge(op: string | undefined, classification: Classification): Classification {
    const type = TYPES.get(op!);
    if (type === undefined || classification.verdict === 'kept') {
      return classification;
    }
    const active = this.#activeOf(type);
    if (active === 0) {
      return INACTIVE;
    }
    // Node unrefs its own timers, and one that has fired for the last time is not listed.
    const isTimer = type === 'Timeout' && classification.verdict === 'unsure';
    return isTimer && active >= this.#live.get(type)! ? RUNNING : classification;
  }

  /** How many of `count` live operations of one row are surely active; null where Node never lists their type. */
  confirmed(op: string | undefined, count: number): number | null {
    const type = TYPES.get(op!);
    if (type === undefined) {
      return null;
    }
    const others = (this.#live.get(type) ?? count) - count;
    return Math.min(count, Math.max(0, this.#activeOf(type) - others));
  }

  #activeOf(type: string): number {
    const number = Number(this.#active[type] ?? 0);
    return Math.max(0, number - (this.#stdio.get(type) ?? 0)) || 0;
  }
}
