/** A page served to this machine alone. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TracerError } from '../../errors';

const HOST = '127.0.0.1';
const TOKEN_BYTES = 12;

export interface PageServer {
  url: string;
  close(): void;
}

/**
 * Serves a page on the loopback interface. Its path cannot be guessed, since other users of the machine reach the port too;
 * and only requests to the address itself are answered, since a web page may give it another name (DNS rebinding).
 *
 * @param port 0 for any that is free
 * @throws TracerError ERR_ASYNC_TRACER_DESTINATION where the port cannot be used
 */
export async function servePage(html: string, port: number): Promise<PageServer> {
  const path = `/${randomBytes(TOKEN_BYTES).toString('base64url')}/`;
  const body = Buffer.from(html);
  let host = '';
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || request.url !== path || request.headers.host !== host) {
      response.writeHead(404, { 'content-length': 0 }).end();
      return;
    }
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': body.length,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new TracerError(
          'ERR_ASYNC_TRACER_DESTINATION',
          `The report cannot be served on ${HOST}:${port}: ${error.message}.`,
          { cause: error },
        ),
      ),
    );
    server.listen(port, HOST, resolve);
  });
  host = `${HOST}:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}${path}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
