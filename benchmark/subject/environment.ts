/** The variables by which the runner controls the preload. */

/** Name of the variant. */
export const VARIANT = 'ASYNC_TRACER_BENCHMARK_VARIANT';
/** Path of its log. */
export const LOG = 'ASYNC_TRACER_BENCHMARK_LOG';
