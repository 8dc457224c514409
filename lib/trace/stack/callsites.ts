import { constants, createContext } from 'node:vm';
import { TracerError } from '../../errors';
import { uncurryThis } from '../runtime/intrinsics';

/** The methods of a CallSite, as functions that no patch of its prototype can reach. */
export interface CallSiteReader {
  scriptName(site: NodeJS.CallSite): string | null | undefined;
  scriptHash(site: NodeJS.CallSite): string;
  position(site: NodeJS.CallSite): number;
  typeName(site: NodeJS.CallSite): string | null;
  lineNumber(site: NodeJS.CallSite): number | null;
  columnNumber(site: NodeJS.CallSite): number | null;
  evalOrigin(site: NodeJS.CallSite): string | undefined;
  isToplevel(site: NodeJS.CallSite): boolean;
  isConstructor(site: NodeJS.CallSite): boolean;
  isEval(site: NodeJS.CallSite): boolean;
  isAsync(site: NodeJS.CallSite): boolean;
  text(site: NodeJS.CallSite): string;
}

/**
 * A JavaScript realm of our own, from which stacks are captured.
 *
 * V8 reads `stackTraceLimit` from the realm whose Error constructor is called, and Node asks the
 * `prepareStackTrace` of the realm in which the error was made before that of the main one. With an Error of
 * our own the program's Error is neither read nor written, be it frozen, patched or replaced, and nothing has
 * to be swapped in and out at each capture. Node gives every realm the same security token, so the frames of
 * all of them are seen. Making one takes about 1 ms and 0.2 MB of heap; there is one a thread.
 */
export interface Realm {
  /** `new RealmError().stack` is an array of CallSites, or text while V8 formats another stack. */
  readonly RealmError: ErrorConstructor;
  /** What RealmError.captureStackTrace is given gets such a stack as well. */
  readonly RealmObject: ObjectConstructor;
  readonly captureStackTrace: ErrorConstructor['captureStackTrace'];
  readonly sites: CallSiteReader;
}

let realm: Realm | undefined;

/** @throws TracerError ERR_ASYNC_TRACER_UNSUPPORTED where this Node.js gives no CallSites to a realm of our own */
export function ownRealm(): Realm {
  realm ??= createRealm();
  return realm;
}

function createRealm(): Realm {
  // Not contextified: with interceptors on its global, Node's look-up of Error costs 0.3 us more a capture.
  const intrinsics = createContext(constants.DONT_CONTEXTIFY) as typeof globalThis;
  const { Error: RealmError, Object: RealmObject } = intrinsics;
  RealmError.stackTraceLimit = 1;
  RealmError.prepareStackTrace = (_error, trace) => trace;
  const trace: unknown = new RealmError().stack;
  if (typeof trace !== 'object' || trace === null) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_UNSUPPORTED',
      `stacks cannot be captured: expected CallSites from a new realm, got ${typeof trace}`,
    );
  }
  const site = (trace as NodeJS.CallSite[])[0];
  return {
    RealmError,
    RealmObject,
    captureStackTrace: RealmError.captureStackTrace,
    sites: {
      scriptName: uncurryThis(site.getScriptNameOrSourceURL),
      scriptHash: uncurryThis(site.getScriptHash),
      position: uncurryThis(site.getPosition),
      typeName: uncurryThis(site.getTypeName),
      lineNumber: uncurryThis(site.getLineNumber),
      columnNumber: uncurryThis(site.getColumnNumber),
      evalOrigin: uncurryThis(site.getEvalOrigin),
      isToplevel: uncurryThis(site.isToplevel),
      isConstructor: uncurryThis(site.isConstructor),
      isEval: uncurryThis(site.isEval),
      isAsync: uncurryThis(site.isAsync),
      text: uncurryThis(site.toString),
    },
  };
}
