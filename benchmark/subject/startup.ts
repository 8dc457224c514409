/** Loads one module and reports the cost. argv is the module, and the folder of our own package. */

import fs from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { report } from './report';

const [, , target, root] = process.argv;
const before = new Set(Object.keys(require.cache));

/** What a file of ours was made of, below lib/: a bundle of many. Nothing for the files of others. */
function sourcesOf(file: string): string[] {
  if (!file.startsWith(path.join(root, 'dist/lib') + path.sep)) {
    return [];
  }
  const { sources } = JSON.parse(fs.readFileSync(`${file}.map`, 'utf8')) as { sources: string[] };
  return sources.map((source) =>
    path.relative(path.join(root, 'lib'), path.resolve(path.dirname(file), source)),
  );
}

/** Files of the package outside the write side, the log and the entry points. */
function isForeign(source: string): boolean {
  const [folder, ...rest] = source.split(path.sep);
  return rest.length > 0 && !['trace', 'log'].includes(folder);
}

const begin = performance.now();
require(target);
const ms = performance.now() - begin;
const files = Object.keys(require.cache).filter((file) => !before.has(file));
const bytes = files.reduce((sum, file) => sum + fs.statSync(file).size, 0);
const foreign = files.flatMap(sourcesOf).filter(isForeign).length;
report({ ms, files: files.length, bytes, foreign });
