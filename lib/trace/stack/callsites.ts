/** Call sites, captured so that the program's own Error is not involved. */
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
 * A separate vm context, from which call sites are captured.
 *
 * V8 reads `stackTraceLimit` from the global object whose Error constructor is called, and Node asks the
 * `prepareStackTrace` of the context in which the error was made before that of the main one. With an Error of a
 * separate context the program's Error is neither read nor written, even where it is frozen, patched or replaced, and
 * no capture has to replace and restore anything. Node gives every context the same security token, so the frames of
 * all contexts are visible. To make one takes about 1 ms and 0.2 MB of heap; each thread makes at most one.
 */
export interface CaptureContext {
  /** `new VmError().stack` is an array of CallSites, or text while V8 formats another stack. */
  readonly VmError: ErrorConstructor;
  /** Makes the objects that VmError.captureStackTrace gives such a stack. */
  readonly VmObject: ObjectConstructor;
  readonly captureStackTrace: ErrorConstructor['captureStackTrace'];
  readonly sites: CallSiteReader;
}

let context: CaptureContext | undefined;

/** @throws TracerError ERR_ASYNC_TRACER_UNSUPPORTED where this Node.js gives no CallSites to a separate context */
export function captureContext(): CaptureContext {
  context ??= createCaptureContext();
  return context;
}

function createCaptureContext(): CaptureContext {
  // Without interceptors: with them on its global object, Node's look-up of Error costs 0.3 us more a capture.
  const intrinsics = createContext(constants.DONT_CONTEXTIFY) as typeof globalThis;
  const { Error: VmError, Object: VmObject } = intrinsics;
  VmError.stackTraceLimit = 1;
  VmError.prepareStackTrace = (_error, trace) => trace;
  const trace: unknown = new VmError().stack;
  if (typeof trace !== 'object' || trace === null) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_UNSUPPORTED',
      `stacks cannot be captured: expected CallSites from a new realm, got ${typeof trace}`,
    );
  }
  const site = (trace as NodeJS.CallSite[])[0];
  return {
    VmError,
    VmObject,
    captureStackTrace: VmError.captureStackTrace,
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
