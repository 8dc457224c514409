/** How the runner tells the preload what to do. */

/** Name of the variant. */
export const VARIANT = 'ASYNC_TRACER_BENCHMARK_VARIANT';
/** Path of its log. */
export const LOG = 'ASYNC_TRACER_BENCHMARK_LOG';
