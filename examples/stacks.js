// Shows which line started what: with `stacks` each init carries its call stack. The frames of Node.js are in it too,
// because they show the way of the call. The first frame outside of Node.js is the program's.
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const asyncTracer = require('async-tracer');

const log = path.join(os.tmpdir(), `async-tracer-stacks-${process.pid}.ndjson`);
const tracer = asyncTracer(log, { stacks: 20, include: ['timers', 'fs'] });

function askLater() {
  setTimeout(function answer() {
    fs.access(__filename, report);
  }, 10);
}

async function report() {
  await tracer.close();
  const records = fs
    .readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const { phase, op, stack } of records) {
    if (phase === 'init') {
      const frame = stack.find((text) => !text.includes(':node:'));
      console.log(op.padEnd(14), frame.replace(__dirname + path.sep, ''));
    }
  }
  fs.unlinkSync(log);
}

askLater();
