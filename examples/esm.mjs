// Traces from an ES module. `close` resolves when the whole log is in the file.
import { randomBytes } from 'node:crypto';
import { readFileSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import asyncTracer from 'async-tracer';

const log = join(tmpdir(), `async-tracer-esm-${process.pid}.ndjson`);
const tracer = asyncTracer(log, { include: ['crypto', 'timers'] });

await promisify(randomBytes)(16);
await sleep(5);
await tracer.close();

const ops = new Set(readFileSync(log, 'utf8').match(/(?<="op":")\w+/g));
console.log([...ops].join(', '));
unlinkSync(log);
