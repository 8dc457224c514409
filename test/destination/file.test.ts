/** A file as a destination, and how it is told from what takes its descriptor later. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { DROPPED, TAKEN } from '../../lib/trace/destination/destination';
import type * as File from '../../lib/trace/destination/file';
import { createFileDestination } from '../../lib/trace/destination/file';
import { identify, identifyPath } from '../../lib/trace/runtime/file-identity';
import { loadAnew } from '../support/modules';
import { folder, LINE, newPath, PLENTY, recorder, textOf } from './fixture';

const FILE_OPTIONS = { append: false, mkdir: false, mode: 0o644 };

describe('destination: a file', () => {
  function onto(file: string | number, create = createFileDestination, append = false) {
    const { errors, lost, observer } = recorder();
    return { errors, lost, destination: create(file, { ...FILE_OPTIONS, append }, observer) };
  }

  /** node:fs with a disk that has room for this many bytes. */
  function smallDisk(context: TestContext) {
    const { writeSync } = fs;
    const disk = { room: 0 };
    const { mock } = context.mock.method(fs, 'writeSync', (fd: number, bytes: Buffer) => {
      if (disk.room === 0) {
        throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
      }
      const written = writeSync(fd, bytes, 0, Math.min(bytes.length, disk.room));
      disk.room -= written;
      return written;
    });
    const { createFileDestination: create } = loadAnew<typeof File>('trace/destination/file');
    return { disk, create, restore: () => mock.restore() };
  }

  for (const append of [false, true]) {
    it(`append ${append}: ${append ? 'adds to what is there' : 'begins the file anew'}`, async () => {
      const file = newPath();
      fs.writeFileSync(file, 'old\n');
      const { destination } = onto(file, createFileDestination, append);
      assert.equal(destination.write(Buffer.from(LINE)), TAKEN);
      assert.equal(textOf(file), append ? `old\n${LINE}` : LINE);
      assert.equal(await destination.flush(), true);
      await destination.close();
      await destination.close();
    });
  }

  it('is written although the program has put a mock in the place of fs.writeSync', async (context) => {
    const file = newPath();
    const { destination } = onto(file);
    const { mock } = context.mock.method(fs, 'writeSync', () => {
      throw new Error('a mock');
    });
    assert.equal(destination.write(Buffer.from(LINE)), TAKEN);
    assert.equal(mock.callCount(), 0);
    mock.restore();
    assert.equal(textOf(file), LINE);
    await destination.close();
  });

  it('keeps one chunk of a full disk, drops the next, and gives the rest up at the end', async () => {
    const { destination, errors, lost } = onto('/dev/full');
    assert.equal(destination.write(Buffer.from('a\n')), TAKEN);
    assert.equal(destination.write(Buffer.from('b\n')), DROPPED);
    assert.equal(await destination.flush(), false);
    assert.equal(lost(), '');
    assert.equal(destination.flushSync(0, false), false);
    assert.equal(destination.flushSync(0, true), false);
    assert.equal(lost(), 'a\n');
    assert.equal(destination.write(Buffer.from('c\n')), DROPPED);
    assert.deepEqual(errors, [['ENOSPC: no space left on device, write', false]]);
    await destination.close();
  });

  it('goes on in the middle of a line once a full disk has room', async (context) => {
    const file = newPath();
    const { disk, create, restore } = smallDisk(context);
    const { destination, errors, lost } = onto(file, create);
    disk.room = 5;
    const bytes = Buffer.from(LINE);
    assert.equal(destination.write(bytes), TAKEN);
    assert.equal(textOf(file), LINE.slice(0, 5));
    bytes.fill('x');
    disk.room = PLENTY;
    assert.equal(destination.write(Buffer.from('b\n')), TAKEN);
    assert.equal(textOf(file), `${LINE}b\n`);
    assert.deepEqual([errors, lost()], [[['the disk is full', false]], '']);
    await destination.close();
    restore();
  });

  it('goes on so where its descriptor is 0, which the program has closed', () => {
    const file = newPath();
    const script = `
      const fs = require('node:fs');
      const { writeSync } = fs;
      let room = 5;
      fs.writeSync = (fd, bytes) => {
        if (room === 0) throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
        const written = writeSync(fd, bytes, 0, Math.min(bytes.length, room));
        room -= written;
        return written;
      };
      const { createFileDestination } = require(${JSON.stringify(require.resolve('../../lib/trace/destination/file'))});
      fs.closeSync(0);
      const observer = { onError() {}, onLost() {} };
      const destination = createFileDestination(${JSON.stringify(file)}, ${JSON.stringify(FILE_OPTIONS)}, observer);
      const bytes = Buffer.from(${JSON.stringify(LINE)});
      destination.write(bytes);
      bytes.fill('x');
      room = 1000;
      destination.write(Buffer.from('b\\n'));
    `;
    const { status, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
    assert.equal(textOf(file), `${LINE}b\n`);
  });

  it('closed on a full disk, ends with its last whole line, and the other is lost', async (context) => {
    const file = newPath();
    const { disk, create, restore } = smallDisk(context);
    const { destination, lost } = onto(file, create);
    disk.room = 7;
    assert.equal(destination.write(Buffer.from('one\ntwo\nthree\n')), TAKEN);
    assert.equal(textOf(file), 'one\ntwo');
    await destination.close();
    restore();
    assert.equal(textOf(file), 'one\n');
    assert.equal(lost(), '\nthree\n');
  });

  it('given up, runs none of the methods that the program has put on Buffer', async (context) => {
    const file = newPath();
    const { disk, create, restore } = smallDisk(context);
    const { destination, lost } = onto(file, create);
    disk.room = 7;
    destination.write(Buffer.from('one\ntwo\nthree\n'));
    restore();
    const lines = Buffer.from(LINE);
    const mocks = (['subarray', 'lastIndexOf'] as const).map((name) =>
      context.mock.method(Buffer.prototype, name),
    );
    fs.closeSync([...Array(1000).keys()].find((fd) => identify(fd) === identifyPath(file))!);
    assert.equal(destination.write(lines), DROPPED);
    const calls = mocks.map(({ mock }) => mock.callCount());
    for (const { mock } of mocks) mock.restore();
    assert.deepEqual(calls, [0, 0]);
    assert.equal(lost(), '\nthree\n');
    await destination.close();
  });

  it('renamed and reopened, is begun anew under its name', async () => {
    const file = newPath();
    const { destination } = onto(file);
    destination.write(Buffer.from('a\n'));
    fs.renameSync(file, `${file}.1`);
    destination.reopen?.(undefined);
    destination.write(Buffer.from('b\n'));
    assert.deepEqual([textOf(`${file}.1`), textOf(file)], ['a\n', 'b\n']);
    await destination.close();
  });

  it('reopened where nobody has renamed it, is not emptied', async () => {
    const file = newPath();
    const { destination } = onto(file);
    destination.write(Buffer.from('a\n'));
    destination.reopen?.(file);
    destination.write(Buffer.from('b\n'));
    assert.equal(textOf(file), 'a\nb\n');
    await destination.close();
  });

  it('reopened elsewhere, leaves the first file with what it had, and closed', async () => {
    const [first, second] = [newPath(), newPath()];
    // The lowest that is free is given out next.
    const fd = fs.openSync(first, 'w');
    fs.closeSync(fd);
    const { destination } = onto(first);
    assert.equal(identify(fd), identifyPath(first));
    destination.write(Buffer.from('a\n'));
    destination.reopen?.(second);
    assert.equal(identify(fd), undefined);
    destination.write(Buffer.from('b\n'));
    assert.deepEqual([textOf(first), textOf(second)], ['a\n', 'b\n']);
    await destination.close();
  });

  it('goes on where it was when it cannot be reopened', async () => {
    const file = newPath();
    const { destination, errors } = onto(file);
    assert.throws(() => destination.reopen?.(path.join(folder, 'none', 'x')), { code: 'ENOENT' });
    assert.equal(destination.write(Buffer.from(LINE)), TAKEN);
    assert.equal(textOf(file), LINE);
    assert.deepEqual(errors, []);
    await destination.close();
  });

  it('by descriptor, stays open when the tracer lets go of it', async () => {
    const file = newPath();
    const fd = fs.openSync(file, 'w');
    const { destination } = onto(fd);
    destination.write(Buffer.from(LINE));
    await destination.close();
    fs.writeSync(fd, 'theirs\n');
    fs.closeSync(fd);
    assert.equal(textOf(file), `${LINE}theirs\n`);
  });

  it('whose descriptor the program has closed takes nothing more', async () => {
    const fd = fs.openSync(newPath(), 'w');
    const { destination, errors } = onto(fd);
    fs.closeSync(fd);
    assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
    assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
    assert.deepEqual(errors, [[`descriptor ${fd} was closed`, true]]);
    await destination.close();
  });

  it('whose descriptor is another file’s by now does not write there', async () => {
    const [first, second] = [newPath(), newPath()];
    const fd = fs.openSync(first, 'w');
    const { destination, errors } = onto(fd);
    fs.closeSync(fd);
    assert.equal(fs.openSync(second, 'w'), fd);
    assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
    await destination.close();
    fs.closeSync(fd);
    assert.equal(textOf(second), '');
    assert.deepEqual(errors, [[`descriptor ${fd} was closed and now stands for another file`, true]]);
  });
});

describe('destination: identity', () => {
  it('is the same by descriptor and by path, and none of what is not there', () => {
    const file = newPath();
    const fd = fs.openSync(file, 'w');
    const { dev, ino } = fs.statSync(file);
    assert.equal(identify(fd), `${dev}:${ino}`);
    assert.equal(identifyPath(file), `${dev}:${ino}`);
    fs.closeSync(fd);
    assert.equal(identify(fd), undefined);
    assert.equal(identifyPath(`${file}.none`), undefined);
  });
});
