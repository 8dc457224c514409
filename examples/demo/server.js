// An HTTP server that reads a file and waits for a timer at each request, traced from its first line on. It prints its
// port, and ends when its standard input ends.
require('async-tracer')(process.argv[2], { header: true });

const { readFile } = require('node:fs/promises');
const http = require('node:http');
const { setTimeout: sleep } = require('node:timers/promises');

const server = http.createServer(async (_request, response) => {
  const text = await readFile(__filename, 'utf8');
  await sleep(2);
  response.end(`${text.split('\n').length} lines\n`);
});

server.listen(0, '127.0.0.1', () => console.log(server.address().port));

process.stdin.resume().on('end', () => {
  server.close();
  server.closeAllConnections();
});
