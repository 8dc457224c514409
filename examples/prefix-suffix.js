// Adds fields of your own to every record: those of `prefix` come first, those of `suffix` last.
const asyncTracer = require('async-tracer');

asyncTracer({
  prefix: { service: 'shop', instance: 3 },
  suffix: { region: 'eu' },
});

setImmediate(() => {});
