// Traces a window of time, from enable() to disable().
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');
const asyncTracer = require('async-tracer');

const log = path.join(os.tmpdir(), `async-tracer-window-${process.pid}.ndjson`);
const tracer = asyncTracer(log, { autostart: false, include: 'timers' });

async function main() {
  await sleep(5); // before the window
  tracer.enable();
  await sleep(10);
  await sleep(15);
  tracer.disable();
  await sleep(5); // after it

  const { events, lost } = tracer.stats();
  console.log(`${events.init} timers began in the window, ${lost} records were lost`);
  await tracer.close();
  fs.unlinkSync(log);
}

main();
