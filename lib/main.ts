import * as errors from './errors';
import type * as event from './log/event';
import * as trace from './trace';

type AsyncTracer = typeof trace.asyncTracer;

/** The entry point for `require`: the function itself, with its exports as properties. */
const asyncTracer = Object.assign(trace.asyncTracer as AsyncTracer, {
  default: trace.asyncTracer as AsyncTracer,
  asyncTracer: trace.asyncTracer as AsyncTracer,
  Tracer: trace.Tracer,
  TracerError: errors.TracerError,
});

namespace asyncTracer {
  export type Tracer = trace.Tracer;
  export type TracerStats = trace.TracerStats;
  export type TracerOptions = trace.TracerOptions;
  export type ContextOptions = trace.ContextOptions;
  export type Matcher = trace.Matcher;
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
