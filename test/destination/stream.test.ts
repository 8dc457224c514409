/** The program's stream as a destination: what it takes and drops, and what is told of what it loses. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import fs from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import { describe, it } from 'node:test';

import { SonicBoom } from 'sonic-boom';

import { DROPPED, TAKEN } from '../../lib/trace/destination/destination';
import { createStreamDestination } from '../../lib/trace/destination/stream';
import { connection, LINE, newPath, PLENTY, recorder, runAsOwnTagged, textOf } from './fixture';

/** Not `once` of node:events: that would handle errors, too. */
function closeOf(stream: Writable): Promise<void> {
  return new Promise((resolve) => stream.once('close', resolve));
}

describe('destination: the program’s stream', () => {
  function onto(stream: Writable, maxBuffer = PLENTY) {
    const { errors, lost, observer } = recorder();
    return {
      errors,
      lost,
      destination: createStreamDestination(stream, maxBuffer, observer, runAsOwnTagged),
    };
  }

  /** Takes what is written when it is told to. */
  function slowStream() {
    const waiting: { text: string; done: (error?: Error | null) => void }[] = [];
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        waiting.push({ text: chunk.toString(), done });
      },
    });
    return { stream, waiting };
  }

  it('gets a copy: the bytes are the tracer’s again at once', async () => {
    const stream = new PassThrough();
    const { destination, errors } = onto(stream);
    const lines = Buffer.from(LINE);
    assert.equal(destination.write(lines), TAKEN);
    lines.fill('#');
    assert.equal(String(stream.read()), LINE);
    assert.equal(await destination.flush(), true);
    await destination.close();
    await destination.close();
    assert.deepEqual(errors, []);
    assert.equal(stream.listenerCount('close'), 0);
    stream.destroy();
  });

  it('runs none of the methods that the program has put on Buffer and Set', async (context) => {
    const file = newPath();
    const stream = fs.createWriteStream(file);
    const { destination } = onto(stream);
    const { mock } = context.mock.method(Set.prototype, 'add');
    destination.write(Buffer.from('a\n'));
    const added = mock.callCount();
    mock.restore();
    await once(stream, 'open');
    const cut = context.mock.method(Buffer.prototype, 'subarray').mock;
    const outcome = destination.write(Buffer.from('b\n'));
    const cuts = cut.callCount();
    cut.restore();
    assert.deepEqual([added, cuts, outcome, textOf(file)], [0, 0, TAKEN, 'a\nb\n']);
    await destination.close();
    stream.end();
    await once(stream, 'close');
  });

  it('holds maxBuffer bytes at most while its sink is slow, and always one chunk', async () => {
    const { stream, waiting } = slowStream();
    const { destination, lost } = onto(stream, LINE.length * 2 - 1);
    assert.equal(destination.write(Buffer.from(LINE)), TAKEN);
    assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
    assert.equal(destination.flushSync(0, false), false);
    const flushed = destination.flush();
    waiting[0].done();
    assert.equal(await flushed, true);
    assert.equal(destination.flushSync(0, false), true);
    assert.equal(lost(), '');
    await destination.close();
    stream.destroy();
  });

  it('does not end the program by the error that our own write met, and tells what was lost', async () => {
    const { stream, waiting } = slowStream();
    const { destination, errors, lost } = onto(stream);
    destination.write(Buffer.from('a\n'));
    destination.write(Buffer.from('b\n'));
    const closed = closeOf(stream);
    waiting[0].done(new Error('no room'));
    await closed;
    assert.deepEqual(errors, [['no room', true]]);
    assert.equal(lost(), 'a\nb\n');
    assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
    await destination.close();
  });

  it('leaves an error of the program’s to the program', async () => {
    const stream = new PassThrough();
    const { destination, errors } = onto(stream);
    const theirs = new Error('theirs');
    const heard = new Promise((resolve) => stream.once('error', resolve));
    stream.destroy(theirs);
    assert.equal(await heard, theirs);
    assert.deepEqual(errors, [['theirs', true]]);
    await destination.close();
  });

  for (const [how, message] of [
    ['end', 'the stream was ended'],
    ['destroy', 'the stream was destroyed'],
  ] as const) {
    it(`takes nothing after the program’s ${how}()`, async () => {
      const stream = new PassThrough();
      const { destination, errors } = onto(stream);
      stream[how]();
      assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
      assert.deepEqual(errors, [[message, true]]);
      await destination.close();
      stream.destroy();
    });
  }

  it('tells what was lost where the stream is closed with lines waiting', async () => {
    const { stream } = slowStream();
    const { destination, errors, lost } = onto(stream);
    destination.write(Buffer.from(LINE));
    const closed = once(stream, 'close');
    stream.destroy();
    await closed;
    assert.deepEqual(
      errors.slice(0, 1).map(([, fatal]) => fatal),
      [true],
    );
    assert.equal(errors.length, 1);
    assert.equal(lost(), LINE);
    await destination.close();
  });

  it('loses what waits when it is closed', async () => {
    const { stream } = slowStream();
    const { destination, errors, lost } = onto(stream);
    destination.write(Buffer.from(LINE));
    await destination.close();
    assert.equal(lost(), LINE);
    assert.deepEqual(errors, []);
    stream.destroy();
  });

  it('whose write throws is given up', async () => {
    const stream = new PassThrough();
    stream.write = () => {
      throw new Error('thrown');
    };
    const { destination, errors, lost } = onto(stream);
    assert.equal(destination.write(Buffer.from(LINE)), TAKEN);
    assert.deepEqual(errors, [['thrown', true]]);
    assert.equal(lost(), LINE);
    await destination.close();
    stream.destroy();
  });

  it('is not written to behind lines of the program’s at the end of the process', async () => {
    const { stream, waiting } = slowStream();
    const { destination, lost } = onto(stream);
    stream.write('theirs\n');
    destination.write(Buffer.from(LINE));
    assert.equal(destination.flushSync(0, true), true);
    assert.equal(lost(), '');
    assert.deepEqual(
      waiting.map(({ text }) => text),
      ['theirs\n'],
    );
    await destination.close();
    stream.destroy();
  });

  /** Neither counts what it holds nor calls back. */
  class OldStream extends EventEmitter {
    readonly taken: string[] = [];
    answer: () => boolean = () => true;
    write(lines: Buffer): boolean {
      const answer = this.answer();
      this.taken.push(lines.toString());
      return answer;
    }
  }

  function ontoOld(maxBuffer: number) {
    const stream = new OldStream();
    return { stream, ...onto(stream as unknown as Writable, maxBuffer) };
  }

  it('of an older kind counts all as held until its drain', async () => {
    const { stream, destination } = ontoOld(LINE.length);
    stream.answer = () => false;
    assert.equal(destination.write(Buffer.from(LINE)), TAKEN);
    assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
    stream.emit('drain');
    assert.equal(destination.flushSync(0, false), true);
    stream.answer = () => true;
    assert.equal(destination.write(Buffer.from(LINE)), TAKEN);
    assert.deepEqual(stream.taken, [LINE, LINE]);
    await destination.close();
    assert.deepEqual(stream.eventNames(), []);
  });

  it('of an older kind is believed when it says that it dropped a chunk', async () => {
    const { stream, destination } = ontoOld(PLENTY);
    stream.answer = () => stream.emit('drop');
    assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
    await destination.close();
  });

  it('of an older kind whose write throws is given up', async () => {
    const { stream, destination, errors } = ontoOld(PLENTY);
    stream.answer = () => {
      throw new Error('thrown');
    };
    assert.equal(destination.write(Buffer.from(LINE)), DROPPED);
    assert.deepEqual(errors, [['thrown', true]]);
    await destination.close();
  });

  it('a SonicBoom writes what it holds at a flush without the event loop', async () => {
    const file = newPath();
    const sonic = new SonicBoom({ dest: file, sync: true, minLength: 4096 });
    const { destination, errors } = onto(sonic as unknown as Writable);
    assert.equal(destination.write(Buffer.from(LINE)), TAKEN);
    assert.equal(textOf(file), '');
    assert.equal(destination.flushSync(0, false), true);
    assert.equal(textOf(file), LINE);
    await destination.close();
    const closed = once(sonic, 'close');
    sonic.end();
    await closed;
    assert.deepEqual(errors, []);
  });

  it('a flushSync that throws ends the trace, not the program', async () => {
    const stream = Object.assign(new OldStream(), {
      flushSync() {
        throw new Error('not ready');
      },
    });
    const { destination, errors } = onto(stream as unknown as Writable);
    destination.flushSync(0, false);
    assert.deepEqual(errors, [['not ready', true]]);
    await destination.close();
  });

  it('a file stream gets what was written before it was open first, then each chunk at once', async () => {
    const file = newPath();
    const stream = fs.createWriteStream(file);
    const { destination, errors, lost } = onto(stream);
    assert.equal(destination.write(Buffer.from('a\n')), TAKEN);
    assert.equal(destination.flushSync(0, false), false);
    await once(stream, 'open');
    assert.equal(textOf(file), 'a\n');
    assert.equal(destination.write(Buffer.from('b\n')), TAKEN);
    assert.equal(textOf(file), 'a\nb\n');
    assert.equal(stream.bytesWritten, 4);
    assert.equal(await destination.flush(), true);
    await destination.close();
    stream.end('theirs\n');
    await once(stream, 'close');
    assert.equal(textOf(file), 'a\nb\ntheirs\n');
    assert.deepEqual([errors, lost()], [[], '']);
  });

  it('a file stream that never opened loses its lines at the end of the process', async () => {
    const stream = fs.createWriteStream(newPath());
    const { destination, errors, lost } = onto(stream);
    destination.write(Buffer.from(LINE));
    assert.equal(destination.flushSync(0, true), true);
    assert.equal(lost(), LINE);
    assert.deepEqual(errors, [['the stream was not open yet', false]]);
    await destination.close();
    stream.destroy();
    await once(stream, 'close');
  });

  it('a file stream on a full device fails as its own write would', async () => {
    const stream = fs.createWriteStream('/dev/full');
    const { destination, errors, lost } = onto(stream);
    await once(stream, 'open');
    destination.write(Buffer.from(LINE));
    await closeOf(stream);
    assert.deepEqual(errors, [['ENOSPC: no space left on device, write', true]]);
    assert.equal(lost(), LINE);
    await destination.close();
  });

  it('a socket whose reader has stopped loses the end of the lines at the end of the process', async (context) => {
    const { writer } = await connection(context);
    const { destination, lost } = onto(writer, 1 << 26);
    const lines = Buffer.from(LINE.repeat(1 << 20));
    assert.equal(destination.write(lines), TAKEN);
    assert.equal(destination.flushSync(0, true), false);
    const rest = lost();
    assert.ok(rest.length > 0 && rest.length < lines.length);
    assert.equal(rest, lines.toString('latin1', lines.length - rest.length));
    await destination.close();
  });
});
