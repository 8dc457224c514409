import { fileURLToPath } from 'node:url';

/** A drive or a host: only Windows has such file: URLs, whatever system reads the log. */
const OF_WINDOWS = /^file:\/\/(\/[a-z]:|[^/])/i;

/**
 * The path of a frame's file. Frames of ES modules carry file: URLs, those of CommonJS modules paths; a path stands for
 * both, decoded, without query and hash. What is no file: URL, or a malformed one, is returned as it is.
 */
export function pathOf(file: string): string {
  if (!file.startsWith('file:')) {
    return file;
  }
  try {
    return fileURLToPath(file, { windows: OF_WINDOWS.test(file) });
  } catch {
    return file;
  }
}
