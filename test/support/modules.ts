/** Modules of lib/ loaded anew, while a test has put something else in the place of what they take from Node at load. */

/** A module by its path below dist/lib, and `others` that it loads: what they keep is theirs alone. */
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
