/** The read side: the records of a log, and answers about it. */

export type { FindingOptions } from './findings/thresholds';
export { analyzeLeaks, type LeaksOptions } from './leaks/leaks';
export type * from './leaks/report';
export type { CodeOptions } from './model/code-option';
export type { ReadOptions, ReadProgress } from './read/options';
export { type LogReader, readLog } from './read/reader';
export type { LogSource } from './read/source';
export type * from './report/distribution';
export type * from './report/finding';
export type * from './report/log';
export type * from './report/operation';
export type * from './roots/report';
export { analyzeRoots, ROOT_ORDERS, type RootsOptions } from './roots/roots';
export { type Frame, parseFrame } from './site/frame';
export type * from './slow/report';
export { analyzeSlow, type SlowOptions } from './slow/slow';
export type * from './stats/report';
export { analyzeStats, type StatsOptions } from './stats/stats';
export type * from './tree/report';
export { analyzeTree, type TreeOptions } from './tree/tree';
