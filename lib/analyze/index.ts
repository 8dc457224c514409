/** The read side: the records of a log, and answers about it. */

export type { FindingOptions } from './findings';
export { analyzeLeaks, type LeaksOptions } from './leaks';
export type { LogCounts, LogReader, ReadOptions, ReadProgress } from './reader';
export { readLog } from './reader';
export type * from './report';
export type { Frame } from './site';
export { parseFrame } from './site';
export { analyzeSlow, type SlowOptions } from './slow';
export type { LogSource } from './source';
export { analyzeStats, type StatsOptions } from './stats';
export { analyzeTree, type TreeOptions } from './tree';
