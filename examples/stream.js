// Traces to a stream. Here it is standard error, so that standard output has only what the program prints.
const asyncTracer = require('async-tracer');

asyncTracer(process.stderr);

setTimeout(() => {
  console.log('50 ms are over');
}, 50);
