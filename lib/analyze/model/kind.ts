import type { Kind } from '../report/operation';

/**
 * Handles as libuv defines them: the loop waits for them until they are closed or unref'd, and their destroy comes with
 * the close. All other native objects are freed by the garbage collector, some time after their use.
 */
const HANDLES = new Set([
  'FSEVENT',
  'MESSAGEPORT',
  'PIPE',
  'PIPESERVER',
  'PROCESS',
  'SIGNAL',
  'STATWATCHER',
  'TCP',
  'TCPSERVER',
  'TTY',
  'UDP',
  'WORKER',
]);
const REQUEST = /REQ|CONNECT$|^WRITE$|^SHUTDOWN$|^QUERY|SEND$|Request$|PING$|SETTINGS$/;

export function kindOf(op: string, area: string | undefined): Kind {
  switch (area) {
    case 'promises':
      return 'promise';
    case 'ticks':
      return 'tick';
    case 'timers':
      return op === 'Immediate' ? 'tick' : 'timer';
    case 'custom':
    case undefined:
      return 'resource';
    // Those of http are parsers too, which live as long as the connection or the message that they parse.
    case 'http':
    case 'crypto':
      return 'request';
  }
  if (HANDLES.has(op)) {
    return 'handle';
  }
  return REQUEST.test(op) ? 'request' : 'object';
}

/** Whether one answer is all an operation of this kind waits for, so that it is done once its callback ran. */
export function isOneShot(kind: Kind, area: string | undefined): boolean {
  return kind === 'promise' || kind === 'tick' || (kind === 'request' && area !== 'http');
}
