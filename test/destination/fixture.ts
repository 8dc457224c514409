/** What the tests of destinations have in common: a folder, an observer that keeps what it hears, a connection. */
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, type TestContext } from 'node:test';

export const LINE = '{"opid":1}\n';
export const PLENTY = 1 << 20;

export const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'async-tracer-destination-test-'));
after(() => fs.rmSync(folder, { recursive: true }));

let files = 0;
export function newPath(): string {
  files++;
  return path.join(folder, `${files}.ndjson`);
}

export function textOf(file: string): string {
  return fs.readFileSync(file, 'utf8');
}

/** Listens, and keeps what it hears. */
export function recorder() {
  const lost: Buffer[] = [];
  const errors: [message: string, fatal: boolean][] = [];
  return {
    errors,
    lost: () => Buffer.concat(lost).toString(),
    observer: {
      onLost: (lines: Buffer) => void lost.push(Buffer.from(lines)),
      onError: (error: unknown, fatal: boolean) => void errors.push([(error as Error).message, fatal]),
    },
  };
}

export function runAsOwnTagged<T>(work: () => T): T {
  return work();
}

/** A loopback connection whose reader reads when it is asked to. */
export async function connection(
  context: TestContext,
): Promise<{ writer: net.Socket; reader: net.Socket; fd: number }> {
  const server = net.createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const writer = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1');
  const [[reader]] = (await Promise.all([accepted, once(writer, 'connect')])) as [[net.Socket], unknown];
  context.after(async () => {
    const closed = Promise.all([writer, reader].map((socket) => socket.closed || once(socket, 'close')));
    writer.destroy();
    reader.destroy();
    await closed;
    server.close();
    await once(server, 'close');
  });
  return { writer, reader, fd: (writer as unknown as { _handle: { fd: number } })._handle.fd };
}
