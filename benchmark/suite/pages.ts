/**
 * Memory for the logs. A virtual machine gives free memory back to its host, and to get it again costs up to ten times
 * what the write itself does: on a Firecracker machine 60 to 156 us for 64 KiB of a new file, against 15 for memory that
 * was used just before. That is the host's price, and which variant pays it would be chance. So a file holds as much as
 * a log takes, and is removed just before a log is begun.
 */

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const BYTES = 512 * 1024 * 1024;
const block = Buffer.alloc(1024 * 1024);

let folder: string | undefined;

export function releasePages(): void {
  if (folder !== undefined) {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  folder = undefined;
}

/** Does nothing where the disk has no room for it. */
export function holdPages(): void {
  releasePages();
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'async-tracer-pages-'));
  try {
    const fd = fs.openSync(path.join(folder, 'pages'), 'w');
    try {
      for (let at = 0; at < BYTES; at += block.length) {
        fs.writeSync(fd, block);
      }
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    releasePages();
  }
}

process.once('exit', releasePages);
