/** One session of `run`: a temporary folder in which the traced processes list the logs that they have opened. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TracerError } from '../../errors';
import { settings } from '../arguments/settings';

export interface Session {
  /** For the program's environment. */
  readonly variables: Record<string, string>;
  /** The paths of the logs, in the order in which they were opened. */
  logs(): string[];
  close(): void;
}

export function openSession(): Session {
  let folder: string;
  try {
    folder = mkdtempSync(join(tmpdir(), 'async-tracer-'));
  } catch (error) {
    throw new TracerError(
      'ERR_ASYNC_TRACER_DESTINATION',
      `A temporary folder could not be made: ${(error as Error).message}. Set TMPDIR to a folder that can be written.`,
      { cause: error },
    );
  }
  return {
    variables: { ASYNC_TRACER_SESSION: folder },
    logs() {
      try {
        const lines = readFileSync(join(folder, settings().LOGS_FILE), 'utf8').split('\n');
        return [...new Set(lines.slice(0, -1).map((line) => JSON.parse(line) as string))];
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
          return [];
        }
        throw error;
      }
    },
    close() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
