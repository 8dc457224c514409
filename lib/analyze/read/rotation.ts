/** What log rotation appends to a name: app.log.1, app.log-20261130, app.log.2.gz. */
const ROTATION = /([.-]\d[\dT:_-]*)?(\.gz)?$/i;

/** A source that may be one file of a rotated log. */
export interface RotatedFile {
  name: string;
  /** Its bytes from the beginning, inflated; undefined where they can be read only once. */
  peek: (() => AsyncGenerator<Buffer>) | undefined;
}

/**
 * Sorts the files of each rotated log by their first records, because a shell lists the newest first (app.log app.log.1
 * app.log.2). All other sources keep their places: parts of one log without headers must not get between those of
 * another.
 *
 * @param firstTime gives the time of the first record in the first chunk, undefined where there is none
 */
export async function inOrder<T extends RotatedFile>(
  files: readonly T[],
  firstTime: (chunks: AsyncGenerator<Buffer>) => Promise<number | undefined>,
): Promise<T[]> {
  const sets = new Map<unknown, T[]>();
  for (const file of files) {
    const key = file.peek === undefined ? file : file.name.replace(ROTATION, '');
    const set = sets.get(key);
    if (set === undefined) {
      sets.set(key, [file]);
    } else {
      set.push(file);
    }
  }
  const ordered: T[] = [];
  for (const set of sets.values()) {
    if (set.length === 1) {
      ordered.push(set[0]);
      continue;
    }
    const timed: { file: T; time: number }[] = [];
    // A file without a record in its first chunk stays behind the one before it.
    let time = Number.NEGATIVE_INFINITY;
    for (const file of set) {
      time = (await firstTime(file.peek!())) ?? time;
      timed.push({ file, time });
    }
    ordered.push(...timed.sort((a, b) => a.time - b.time || 0).map(({ file }) => file));
  }
  return ordered;
}
