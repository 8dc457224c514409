/** Modules of lib/: what a loaded file was made of; and how to load one anew. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

const DIST = path.join(__dirname, '../..') + path.sep;

/** The sources of a compiled file of ours, of a bundle all of them; the files of others as they are. */
export function sourcesOf(file: string): string[] {
  if (!file.startsWith(DIST)) {
    return [file];
  }
  const { sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { sources: string[] };
  return sources.map((source) => path.resolve(path.dirname(file), source));
}

/**
 * A module by its path below dist/lib, and `others` that it loads, while a test has put something else in the place of
 * what they take from Node at load: what they keep is theirs alone.
 */
export function loadAnew<T>(name: string, ...others: string[]): T {
  const files = [name, ...others].map((file) => require.resolve(`../../lib/${file}`));
  const cached = files.map((file) => require.cache[file]);
  for (const file of files) {
    delete require.cache[file];
  }
  try {
    return require(files[0]) as T;
  } finally {
    files.forEach((file, i) => {
      if (cached[i] === undefined) {
        delete require.cache[file];
      } else {
        require.cache[file] = cached[i];
      }
    });
  }
}
