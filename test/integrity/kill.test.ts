/** A loaded process, killed at random moments: no line is torn but possibly the last, and only a killed run has no end. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { validateLog } from '../support/validate';
import { fixture, inFolder } from './program';

const RUNS = Number(process.env['INTEGRITY_KILLS'] ?? 200);
/** Lines are long enough to be torn where chunks are small, and chunks are written often. */
const PLANS = [{ bufferSize: 512 }, { flushInterval: 1 }, {}, { bufferSize: 1 }];
const SIGNALS = ['SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGABRT'] as const;
const KILLED_AFTER_MS = 60;

interface Killed {
  log: string;
  signal: NodeJS.Signals | null;
}

function runAndKill(folder: string, run: number, delayMs: number): Promise<Killed> {
  const target = path.join(folder, `${run}.ndjson`);
  const plan = { target, options: { header: true, ...PLANS[run % PLANS.length] } };
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['-r', fixture('preload.js'), fixture('loaded.js')], {
      env: { ...env, NODE_V8_COVERAGE: undefined, INTEGRITY: JSON.stringify(plan) },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout.once('data', () => {
      setTimeout(() => child.kill(SIGNALS[run % SIGNALS.length]), delayMs);
    });
    child.once('error', reject);
    child.once('close', (_code, signal) => resolve({ log: readFileSync(target, 'utf8'), signal }));
  });
}

describe('kill', () => {
  it(`${RUNS} times, at random moments: whole lines but for the last one, and no end`, () =>
    inFolder(async (folder) => {
      let bytes = 0;
      // One after the other: while a log is read here, no other process may go on writing, for want of its signal.
      for (let run = 0; run < RUNS; run++) {
        const delayMs = Math.random() * KILLED_AFTER_MS;
        const { log, signal } = await runAndKill(folder, run, delayMs);
        const told = `run ${run}, killed after ${delayMs} ms`;
        assert.equal(signal, SIGNALS[run % SIGNALS.length], told);
        const whole = log.slice(0, log.lastIndexOf('\n') + 1);
        const records = validateLog(whole);
        assert.equal(records[0]?.phase, 'start', told);
        assert.ok(!records.some(({ phase }) => phase === 'end'), told);
        bytes += whole.length;
      }
      assert.ok(bytes > RUNS * 1000);
    }));
});
