/**
 * Which group an op belongs to, so that a log can be read and filtered by what a program does (net, fs, timers) before
 * one knows the names Node.js gives to its resources.
 */

/** The groups of ops. Every op has exactly one; `custom` holds the program's own AsyncResource types. */
export const AREAS = [
  'net',
  'http',
  'http2',
  'tls',
  'dns',
  'fs',
  'streams',
  'timers',
  'ticks',
  'promises',
  'process',
  'crypto',
  'zlib',
  'worker',
  'dgram',
  'tty',
  'inspector',
  'custom',
] as const;

export type Area = (typeof AREAS)[number];

/**
 * The ops of Node.js 20 to 26 by area: the names of `async_hooks.asyncWrapProviders` without their WRAP, and those that
 * Node's own JavaScript creates with AsyncResource, which no list of Node has. test/log/area.test.ts compares both kinds
 * with the Node.js it runs on.
 */
const OPS: Record<Exclude<Area, 'custom'>, readonly string[]> = {
  net: [
    'PIPE',
    'PIPECONNECT',
    'PIPESERVER',
    'QUIC_ENDPOINT',
    'QUIC_LOGSTREAM',
    'QUIC_PACKET',
    'QUIC_SESSION',
    'QUIC_STREAM',
    'QUIC_UDP',
    'TCP',
    'TCPCONNECT',
    'TCPSERVER',
  ],
  http: [
    'HTTPCLIENTREQUEST',
    'HTTPINCOMINGMESSAGE',
    'QueuedRequest',
    'UNDICI_CONNECT',
    'UNDICI_PIPELINE',
    'UNDICI_REQUEST',
    'UNDICI_STREAM',
    'UNDICI_UPGRADE',
  ],
  http2: ['HTTP2PING', 'HTTP2SESSION', 'HTTP2SETTINGS', 'HTTP2STREAM', 'PendingRequest'],
  tls: ['DTLS_ENDPOINT', 'DTLS_SESSION', 'TLS'],
  dns: ['DNSCHANNEL', 'GETADDRINFOREQ', 'GETNAMEINFOREQ', 'QUERY'],
  fs: [
    'DIRHANDLE',
    'FILEHANDLE',
    'FILEHANDLECLOSEREQ',
    'FSEVENT',
    'FSREQCALLBACK',
    'FSREQPROMISE',
    'STATWATCHER',
  ],
  streams: ['BLOBREADER', 'JSSTREAM', 'SHUTDOWN', 'STREAMPIPE', 'STREAM_END_OF_STREAM', 'WRITE'],
  timers: ['Immediate', 'Timeout'],
  ticks: ['Microtask', 'TickObject'],
  promises: ['PROMISE'],
  process: ['PROCESS', 'SIGINTWATCHDOG', 'SIGNAL'],
  crypto: [
    'ARGON2REQUEST',
    'CHECKPRIMEREQUEST',
    'CIPHERREQUEST',
    'DERIVEBITSREQUEST',
    'HASHREQUEST',
    'KEYEXPORTREQUEST',
    'KEYGENREQUEST',
    'KEYPAIRGENREQUEST',
    'PBKDF2REQUEST',
    'RANDOMBYTESREQUEST',
    'RANDOMPRIMEREQUEST',
    'SCRYPTREQUEST',
    'SIGNREQUEST',
    'VERIFYREQUEST',
  ],
  zlib: ['ZLIB'],
  worker: [
    'LOCKS',
    'MESSAGEPORT',
    'WORKER',
    'WORKERCPUPROFILE',
    'WORKERCPUUSAGE',
    'WORKERHEAPPROFILE',
    'WORKERHEAPSNAPSHOT',
    'WORKERHEAPSTATISTICS',
  ],
  dgram: ['JSUDP', 'UDP', 'UDPSEND'],
  tty: ['TTY'],
  inspector: ['ELDHISTOGRAM', 'HEAPSNAPSHOT'],
};

// Without a prototype, so that a type named `constructor` or `__proto__` is not found. No Map, since a program may patch
// Map.prototype, and the hook looks a type up when the program first starts an operation of it.
const AREA_OF_OP: Record<string, Area> = Object.create(null);
for (const [area, ops] of Object.entries(OPS)) {
  for (const op of ops) {
    AREA_OF_OP[op] = area as Area;
  }
}

/** All of these ops, for suggestions where a name is mistyped. */
export function opsOfNode(): string[] {
  return Object.keys(AREA_OF_OP);
}

/** The area of an op (a type after `opOf`); `custom` for every op that is not Node's own. Never throws. */
export function areaOf(op: string): Area {
  return AREA_OF_OP[op] ?? 'custom';
}

// Taken at load: it runs in a hook, where nothing that the program has patched may be called.
const slice = Function.prototype.call.bind(String.prototype.slice) as (
  text: string,
  from: number,
  to?: number,
) => string;

/**
 * The op of a type. A final WRAP is removed, but only from a name in Node's own list of types: TCPWRAP means the same as
 * TCP, while a program that names a resource GIFTWRAP means that name.
 *
 * @param type as async_hooks passes it to init
 * @param isProvider whether `type` is a key of `async_hooks.asyncWrapProviders`
 */
export function opOf(type: string, isProvider: boolean): string {
  return isProvider && type.length > 4 && slice(type, -4) === 'WRAP' ? slice(type, 0, -4) : type;
}
