// Traces two threads. A tracer traces the thread that made it, and ids begin anew in every thread. So each thread
// writes its own file.
const os = require('node:os');
const path = require('node:path');
const { Worker, isMainThread, threadId } = require('node:worker_threads');
const asyncTracer = require('async-tracer');

const log = path.join(os.tmpdir(), `async-tracer-${process.pid}-thread-${threadId}.ndjson`);
const tracer = asyncTracer(log, { prefix: { worker: threadId } });

if (isMainThread) {
  new Worker(__filename).on('exit', finish);
} else {
  setTimeout(finish, 5);
}

async function finish() {
  const { init } = tracer.stats().events;
  await tracer.close();
  console.log(`thread ${threadId}: ${init > 0 ? 'traced' : 'empty'}, ${log}`);
}
