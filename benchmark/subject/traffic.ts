/**
 * Makes a log from real traced load: an HTTP server that reads a file, waits and awaits, asked over and over in the
 * same process, until the log has the wanted size. argv is the path, the size in MB, and the frames of a stack.
 */

import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { asyncTracer as AsyncTracer } from '../../lib/trace';
import { report } from './report';

const [, , file, megabytes, frames] = process.argv;
const asyncTracer = require('async-tracer') as typeof AsyncTracer;
const tracer = asyncTracer(file, { header: true, stacks: Number(frames) > 0 ? Number(frames) : false });
const bytesWanted = Number(megabytes) * 1e6;
const CONNECTIONS = 20;

async function answer(response: http.ServerResponse): Promise<void> {
  const page = await fs.promises.readFile(__filename);
  setTimeout(() => response.end(page.subarray(0, 100)), 1);
}

const server = http.createServer((_request, response) => void answer(response));
const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });

let asking = CONNECTIONS;

function ask(port: number): void {
  if (tracer.stats().bytes >= bytesWanted) {
    if (--asking === 0) {
      agent.destroy();
      server.close();
    }
    return;
  }
  http.get({ port, host: '127.0.0.1', agent }, (response) => {
    response.resume().on('end', () => ask(port));
  });
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  for (let i = 0; i < CONNECTIONS; i++) {
    ask(port);
  }
});
server.once('close', async () => {
  await tracer.close();
  report({ bytes: fs.statSync(file).size, lost: tracer.stats().lost });
});
