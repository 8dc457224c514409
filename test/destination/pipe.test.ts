/** A pipe, socket or device as a destination. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { DROPPED, TAKEN } from '../../lib/trace/destination/destination';
import { createPipeDestination } from '../../lib/trace/destination/pipe';
import { connection, LINE, newPath, PLENTY, recorder, runAsOwnTagged, textOf } from './fixture';

describe('destination: a pipe, socket or device', () => {
  function onto(file: string | number, maxBuffer = PLENTY, overflow: 'drop' | 'block' = 'drop') {
    const { errors, lost, observer } = recorder();
    return {
      errors,
      lost,
      destination: createPipeDestination(file, { maxBuffer, overflow }, observer, runAsOwnTagged),
    };
  }

  for (const kind of ['path', 'descriptor'] as const) {
    it(`a full device, by ${kind}, drops each chunk and is tried again`, async () => {
      const fd = kind === 'path' ? undefined : fs.openSync('/dev/full', 'w');
      const { destination, errors, lost } = onto(fd ?? '/dev/full');
      assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
      assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
      const error = ['ENOSPC: no space left on device, write', false];
      assert.deepEqual([errors, lost()], [[error, error], '']);
      assert.equal(await destination.flush(), true);
      await destination.close();
      await destination.close();
      if (fd !== undefined) {
        fs.closeSync(fd);
      }
    });
  }

  const canForbid = process.allowedNodeEnvironmentFlags.has('--allow-net');
  it('a socket is refused with what must be allowed, where Node.js forbids it', {
    skip: !canForbid && 'it has no permissions for the network',
  }, () => {
    const program = `require(${JSON.stringify(path.join(__dirname, '../../lib/main.js'))})()`;
    const { stderr } = spawnSync(process.execPath, ['--permission', '--allow-fs-read=*', '-e', program], {
      encoding: 'utf8',
    });
    assert.match(stderr, /TracerError: The log cannot be written to descriptor 1: .*--allow-net/);
  });

  it('a descriptor that cannot be written is given up', async () => {
    const fd = fs.openSync('/dev/null', 'r');
    const { destination, errors } = onto(fd);
    assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
    assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
    assert.deepEqual(errors, [['EBADF: bad file descriptor, write', true]]);
    await destination.close();
    fs.closeSync(fd);
  });

  it('whose descriptor the program has closed takes nothing more', async () => {
    const fd = fs.openSync('/dev/null', 'w');
    const { destination, errors } = onto(fd);
    assert.equal(destination.write(Buffer.from(LINE)), TAKEN);
    fs.closeSync(fd);
    assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
    assert.deepEqual(errors, [[`descriptor ${fd} was closed`, true]]);
    await destination.close();
  });

  it('whose descriptor is something else’s by now does not write there', async () => {
    const file = newPath();
    const fd = fs.openSync('/dev/null', 'w');
    const { destination, errors } = onto(fd);
    fs.closeSync(fd);
    assert.equal(fs.openSync(file, 'w'), fd);
    assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
    fs.closeSync(fd);
    assert.equal(textOf(file), '');
    assert.deepEqual(errors, [[`descriptor ${fd} was closed and now stands for something else`, true]]);
    await destination.close();
  });

  /** Writes chunks until one is dropped; returns those that were taken. */
  function fill(write: (lines: Buffer) => number): string {
    let taken = '';
    for (let i = 0; ; i++) {
      const lines = `${i} ${LINE.repeat(4096)}`;
      if (write(Buffer.from(lines)) !== TAKEN) {
        return taken;
      }
      taken += lines;
    }
  }

  it('a socket whose reader has stopped gets what was taken, whole and in order, once it reads', async (context) => {
    const { reader, fd } = await connection(context);
    const { destination, errors, lost } = onto(fd, 100_000);
    const taken = fill(destination.write);
    assert.equal(destination.flushSync(0, false), false);
    let received = '';
    const all = new Promise<void>((resolve) => {
      reader.setEncoding('latin1').on('data', (text: string) => {
        received += text;
        if (received.length >= taken.length) {
          resolve();
        }
      });
    });
    reader.resume();
    assert.equal(await destination.flush(), true);
    await all;
    assert.ok(received === taken);
    assert.deepEqual([errors, lost()], [[], '']);
    await destination.close();
  });

  it('closed before its reader reads on, a socket loses the end of what was taken', async (context) => {
    const { fd } = await connection(context);
    const { destination, lost } = onto(fd, 100_000);
    const taken = fill(destination.write);
    await destination.close();
    assert.ok(lost().length > 0);
    assert.ok(taken.endsWith(lost()));
    assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
  });

  it('overflow block: waits for nobody any more once the process ends', async (context) => {
    const { fd } = await connection(context);
    const { destination, lost } = onto(fd, 100_000, 'block');
    destination.flushSync(0, true);
    const taken = fill(destination.write);
    assert.equal(destination.flushSync(0, true), false);
    await destination.close();
    assert.ok(lost().length > 0 && taken.endsWith(lost()));
  });
});
