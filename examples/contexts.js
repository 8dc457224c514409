// Shows what an operation works on: with `contexts` each before and after carries the operation's resource. It is
// bounded in depth and breadth. The values of names like token, cookie or password are replaced by [Redacted].
const { AsyncResource } = require('node:async_hooks');
const asyncTracer = require('async-tracer');

class Job extends AsyncResource {
  constructor(order) {
    super('JOB');
    this.order = order;
    this.token = 'not for the log';
  }
}

asyncTracer({ contexts: { depth: 2, breadth: 5, redact: ['card*'] }, include: 'JOB' });

const job = new Job({ id: 7, lines: [1, 2, 3, 4, 5, 6, 7], cardNumber: '4111 1111 1111 1111' });
job.runInAsyncScope(() => {
  job.order.done = true;
});
job.emitDestroy();
