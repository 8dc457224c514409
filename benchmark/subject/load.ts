/**
 * The load, in a process and on a core of its own: a warm-up, then the measured requests between two readings of the
 * server's meters. argv is port, seconds of warm-up, seconds of load.
 */

import http from 'node:http';
import autocannon from 'autocannon';
import type { ServerMark } from './http';
import { report } from './report';

export interface LoadReport {
  begin: ServerMark;
  end: ServerMark;
  seconds: number;
}

/** As the figures of 0.6.1 were made. */
const CONNECTIONS = 10;
const PIPELINING = 10;

function get(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    http
      .get({ port, host: '127.0.0.1', path, agent: false }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
        });
        response.on('end', () => resolve(text));
      })
      .on('error', reject);
  });
}

async function shoot(port: number, duration: number): Promise<autocannon.Result> {
  const result = await autocannon({
    url: `http://127.0.0.1:${port}/`,
    connections: CONNECTIONS,
    pipelining: PIPELINING,
    duration,
    // It stops at a sample's end only.
    sampleInt: 100,
  });
  const failed = result.errors + result.timeouts + result.non2xx;
  if (failed > 0) {
    throw new Error(`${failed} requests failed`);
  }
  return result;
}

async function run(port: number, warmUp: number, seconds: number): Promise<void> {
  await shoot(port, warmUp);
  const begin = JSON.parse(await get(port, '/mark')) as ServerMark;
  const result = await shoot(port, seconds);
  const end = JSON.parse(await get(port, '/mark')) as ServerMark;
  await get(port, '/stop').catch(() => {});
  report({ begin, end, seconds: result.duration } satisfies LoadReport);
}

void run(Number(process.argv[2]), Number(process.argv[3]), Number(process.argv[4]));
