// Traces to the path of a file. With `append` each run adds its records to the file. With `header` each run begins with
// a `start` record, so that a reader can separate the runs.
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const asyncTracer = require('async-tracer');

const log = path.join(os.tmpdir(), 'async-tracer-append.ndjson');
const tracer = asyncTracer(log, { append: true, header: true });

setImmediate(async () => {
  await tracer.close();
  const runs = fs.readFileSync(log, 'utf8').match(/"phase":"start"/g);
  console.log(`${log} holds ${runs.length} run${runs.length === 1 ? '' : 's'}`);
});
