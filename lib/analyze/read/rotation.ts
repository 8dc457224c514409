/** The pieces of rotated logs, put in the order in which they were written. */
import { Decoder } from '../decode/decoder';
import { Lines } from '../decode/lines';

/** What log rotation puts behind a name: app.log.1, app.log-20261130, app.log.2.gz. */
const ROTATION = /([.-]\d[\dT:_-]*)?(\.gz)?$/i;

export interface Piece {
  name: string;
  /** Its bytes from the beginning, inflated; undefined where they can be read but once. */
  peek: (() => AsyncGenerator<Buffer>) | undefined;
}

/**
 * Puts files whose names differ by what rotation adds in the order of their first records, since a shell names the
 * newest first (app.log app.log.1 app.log.2). All other sources stay where they are: parts of one log without headers
 * must not get between those of another.
 */
export async function inOrder<T extends Piece>(pieces: readonly T[]): Promise<T[]> {
  const sets = new Map<unknown, T[]>();
  for (const piece of pieces) {
    const key = piece.peek === undefined ? piece : piece.name.replace(ROTATION, '');
    const set = sets.get(key);
    if (set === undefined) {
      sets.set(key, [piece]);
    } else {
      set.push(piece);
    }
  }
  const ordered: T[] = [];
  for (const set of sets.values()) {
    if (set.length === 1) {
      ordered.push(set[0]);
      continue;
    }
    const timed: { piece: T; time: number }[] = [];
    // One without a record in its first chunk stays behind the one before it.
    let time = Number.NEGATIVE_INFINITY;
    for (const piece of set) {
      time = (await firstTime(piece.peek!())) ?? time;
      timed.push({ piece, time });
    }
    ordered.push(...timed.sort((a, b) => a.time - b.time || 0).map(({ piece }) => piece));
  }
  return ordered;
}

async function firstTime(chunks: AsyncGenerator<Buffer>): Promise<number | undefined> {
  const decoder = new Decoder();
  let time: number | undefined;
  const lines = new Lines(decoder, () => {
    if (!Number.isNaN(decoder.time)) {
      time ??= decoder.time;
    }
  });
  try {
    const { value, done } = await chunks.next();
    if (!done) {
      lines.feed(value);
    }
  } catch {
    // What is wrong with it is told when it is read.
  } finally {
    await chunks.return(undefined);
  }
  return time;
}
