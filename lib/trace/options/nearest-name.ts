/** Suggestions for a mistyped name. */

/** The number of one-letter changes between two words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + Number(a[i - 1] !== b[j - 1]));
    }
    row = next;
  }
  return row[b.length];
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '');
}

/** The known name that is most similar to `word`; undefined where none is similar. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((name) => ({ name, far: distance(plain(word), plain(name)) }))
    .filter(({ far }) => far <= Math.max(1, Math.min(2, Math.floor(word.length / 2))))
    .sort((a, b) => a.far - b.far);
  return best?.name;
}
