/** Writes chunks of 256 KiB and reports the time. argv is the path and the number of chunks. */

import fs from 'node:fs';
import { performance } from 'node:perf_hooks';
import { report } from './report';

const CHUNK = Buffer.alloc(262_144, 'a');

const fd = fs.openSync(process.argv[2], 'w');
const chunks = Number(process.argv[3]);
const begin = performance.now();
for (let i = 0; i < chunks; i++) {
  fs.writeSync(fd, CHUNK);
}
const seconds = (performance.now() - begin) / 1000;
report({ bytes: chunks * CHUNK.length, seconds });
