// Ends the tracer with the block that made it. With Node 24 or TypeScript 5.2 this can be written as
//   await using tracer = asyncTracer(log);
// The try and finally below do the same on every version.
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');
const asyncTracer = require('async-tracer');

const log = path.join(os.tmpdir(), `async-tracer-dispose-${process.pid}.ndjson`);

async function work() {
  const tracer = asyncTracer(log, { header: true });
  try {
    await sleep(5);
  } finally {
    await tracer[Symbol.asyncDispose]();
  }
}

work().then(() => {
  const lines = fs.readFileSync(log, 'utf8').trimEnd().split('\n');
  const { phase, reason, lost } = JSON.parse(lines[lines.length - 1]);
  console.log(`the log closes with phase ${phase}, reason ${reason}, ${lost} lost`);
  fs.unlinkSync(log);
});
