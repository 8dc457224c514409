/** The read side: the records of a log, and answers about it. */

export type { FindingOptions } from './findings/findings';
export { analyzeLeaks, type LeaksOptions } from './leaks/leaks';
export type { LogCounts, LogReader, ReadOptions, ReadProgress } from './read/reader';
export { readLog } from './read/reader';
export type { LogSource } from './read/source';
export type * from './report';
export { analyzeSlow, type SlowOptions } from './slow/slow';
export type { Frame } from './stack/site';
export { parseFrame } from './stack/site';
export { analyzeStats, type StatsOptions } from './stats/stats';
export { analyzeTree, type TreeOptions } from './tree/tree';
