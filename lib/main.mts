/** The entry point for `import`: the same instance as `require` returns. */
import asyncTracer from './main.js';

export default asyncTracer;
export const { Tracer, TracerError } = asyncTracer;
export type Tracer = asyncTracer.Tracer;
export type TracerError = asyncTracer.TracerError;
export type {
  AfterRecord,
  BeforeRecord,
  ContextOptions,
  DestroyRecord,
  EndRecord,
  InitRecord,
  LostRecord,
  Matcher,
  OperationRecord,
  Phase,
  PhaseCounts,
  ResolveRecord,
  StartRecord,
  TraceRecord,
  TracerErrorCode,
  TracerOptions,
  TracerStats,
} from './main.js';
export { asyncTracer };
