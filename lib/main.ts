import * as errors from './errors';
import type * as event from './log/event';
import * as face from './trace/face';

type AsyncTracer = typeof face.asyncTracer;

/** The door for `require`: the function itself, with its names as properties. */
const asyncTracer = Object.assign(face.asyncTracer as AsyncTracer, {
  default: face.asyncTracer as AsyncTracer,
  asyncTracer: face.asyncTracer as AsyncTracer,
  Tracer: face.Tracer,
  TracerError: errors.TracerError,
});

namespace asyncTracer {
  export type Tracer = face.Tracer;
  export type TracerStats = face.TracerStats;
  export type TracerOptions = face.TracerOptions;
  export type ContextOptions = face.ContextOptions;
  export type Matcher = face.Matcher;
  export type TracerError = errors.TracerError;
  export type TracerErrorCode = errors.TracerErrorCode;
  export type TraceRecord = event.TraceRecord;
  export type OperationRecord = event.OperationRecord;
  export type InitRecord = event.InitRecord;
  export type BeforeRecord = event.BeforeRecord;
  export type AfterRecord = event.AfterRecord;
  export type DestroyRecord = event.DestroyRecord;
  export type ResolveRecord = event.ResolveRecord;
  export type StartRecord = event.StartRecord;
  export type EndRecord = event.EndRecord;
  export type LostRecord = event.LostRecord;
  export type Phase = event.Phase;
  export type PhaseCounts = event.PhaseCounts;
}

export = asyncTracer;
