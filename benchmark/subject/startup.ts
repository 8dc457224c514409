/** Loads one module and tells what that took. argv is the module, and the folder of our own compiled files. */

import fs from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { report } from './report';

const [, , target, own] = process.argv;
const before = new Set(Object.keys(require.cache));

/** Ours, and neither of the write side, nor of the log, nor one of the doors at the top. */
function isForeign(file: string): boolean {
  const [folder, ...rest] = path.relative(own, file).split(path.sep);
  return rest.length > 0 && !['..', 'trace', 'log'].includes(folder);
}

const begin = performance.now();
require(target);
const ms = performance.now() - begin;
const files = Object.keys(require.cache).filter((file) => !before.has(file));
const bytes = files.reduce((sum, file) => sum + fs.statSync(file).size, 0);
report({ ms, files: files.length, bytes, foreign: files.filter(isForeign).length });
