/** The door for `import`: the same instance as `require` gives. */
import asyncTracer from './main.js';

export default asyncTracer;
export const { Tracer, TracerError } = asyncTracer;
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
