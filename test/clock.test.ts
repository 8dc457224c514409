import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, it } from 'node:test';
import { anchor, monotonicNs, requireClock } from '../lib/trace/clock/anchor';
import type { Clock } from '../lib/trace/clock/clock';
import { createClock } from '../lib/trace/clock/create-clock';

/** The text that a record would carry. */
function read(clock: Clock): string {
  const bytes = Buffer.alloc(24);
  bytes.writeDoubleLE(clock.text[0], 0);
  bytes.writeDoubleLE(clock.text[1], 8);
  bytes.writeInt32LE(clock.fraction[0], 13);
  return bytes.toString('latin1', 0, 17);
}

describe('clock', () => {
  it('refuses what no time of 13 digits is made of', () => {
    requireClock(anchor);
    for (const epochUs of [Number.NaN, 0, 1e15 - 1, 1e16]) {
      assert.throws(() => requireClock({ epochUs, monotonicNs: 0 }), {
        code: 'ERR_ASYNC_TRACER_UNSUPPORTED',
      });
    }
  });

  it('writes whole times where the monotonic clock was stopped before it was loaded', () => {
    const lib = JSON.stringify(path.join(__dirname, '../lib/main'));
    const program = `
      process.hrtime.bigint = () => 0n;
      const tracer = require(${lib})(1);
      setTimeout(() => {}, 1);`;
    const { status, stdout } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
    assert.equal(status, 0);
    for (const line of stdout.trim().split('\n')) {
      assert.match(line, /"time":\d{13}\.\d{3}\}$/);
    }
  });

  it('precise: lies between two readings of the same monotonic clock, to the microsecond', () => {
    const clock = createClock('precise');
    for (let i = 0; i < 20_000; i++) {
      const before = monotonicNs();
      clock.tick();
      const after = monotonicNs();
      const text = read(clock);
      assert.match(text, /^\d{13}\.\d{3}$/);
      const us = Number(text.replace('.', ''));
      const low = anchor.epochUs + Math.floor((before - anchor.monotonicNs) / 1000);
      const high = anchor.epochUs + Math.floor((after - anchor.monotonicNs) / 1000);
      assert.ok(us >= low && us <= high, `${low} <= ${us} <= ${high}`);
    }
  });

  it('precise: agrees with the wall clock at the start', () => {
    const clock = createClock('precise');
    clock.tick();
    assert.ok(Math.abs(Number(read(clock)) - Date.now()) < 5_000);
  });

  it('coarse: never goes back, in whole milliseconds, and follows the precise clock once its thread runs', async () => {
    const clock = createClock('coarse');
    const precise = createClock('precise');
    let last = 0;
    let distinct = 0;
    let worst = 0;
    while (distinct < 200) {
      clock.tick();
      precise.tick();
      const text = read(clock);
      assert.match(text, /^\d{13}\.000$/);
      const ms = Number(text);
      assert.ok(ms >= last, `${ms} after ${last}`);
      worst = Math.max(worst, Number(read(precise)) - ms);
      if (ms > last) {
        distinct++;
        last = ms;
        await new Promise(setImmediate);
      }
    }
    clock.stop();
    // No bound on a loaded machine; a clock that stands still, or lies in the future, would show.
    assert.ok(worst >= 0 && worst < 10_000, `${worst} ms behind`);
  });

  it('still: needs no time', () => {
    const clock = createClock('still');
    clock.tick();
    assert.deepEqual([...clock.text, ...clock.fraction], [0, 0, 0]);
  });
});
