// Traces to a stream: here standard error, so that standard output stays the program's.
const asyncTracer = require('async-tracer');

asyncTracer(process.stderr);

setTimeout(() => {
  console.log('50 ms are over');
}, 50);
