const net = require('node:net');
const { it } = require('node:test');
const { expectNoLeaks } = require('async-tracer/testing');
const { ask } = require('./client');

for (const answer of ['yes', 'no']) {
  it(`leaves nothing open after "${answer}"`, { timeout: 10_000 }, async () => {
    const server = net.createServer((socket) => socket.write(answer)).listen(0);
    server.unref();
    await expectNoLeaks(() => ask(server.address().port));
    server.close();
  });
}
