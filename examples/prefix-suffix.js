// Fields of your own in every record: `prefix` stands first, `suffix` last.
const asyncTracer = require('async-tracer');

asyncTracer({
  prefix: { service: 'shop', instance: 3 },
  suffix: { region: 'eu' },
});

setImmediate(() => {});
