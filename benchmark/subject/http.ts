/** The server under test: hello world, and two paths by which the load reads its meters and ends it. */

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { finish, type Mark, mark } from './meter';
import { report } from './report';

export interface ServerMark extends Mark {
  /** Requests for hello world that were answered so far. */
  served: number;
}

let served = 0;

async function control(url: string | undefined, response: http.ServerResponse): Promise<void> {
  if (url === '/mark') {
    const reading: ServerMark = { ...(await mark()), served };
    response.end(JSON.stringify(reading));
    return;
  }
  response.end();
  server.close(() => void finish({}));
  server.closeAllConnections();
}

const server = http.createServer((request, response) => {
  if (request.url === '/') {
    served++;
    response.end('hello world');
  } else {
    void control(request.url, response);
  }
});

server.listen(0, '127.0.0.1', () => report({ port: (server.address() as AddressInfo).port }));
