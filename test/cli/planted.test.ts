/** Small programs with one fault each: the right command names it by file and line. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { Finding, LeaksReport, StatsReport } from '../../lib/analyze';
import { command, environment, FIXTURES, MAIN, temporaryFolder } from './command';

/** Where the fault stands: the line with this comment. */
function plantedLine(file: string, code: string): number {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.findIndex((line) => line.endsWith(`// planted: ${code}`)) + 1;
}

const TRACE = ['run', '-q', '--stacks', '--resolve', '-o', 'a.ndjson'];

function trace(program: string): string {
  const cwd = temporaryFolder();
  assert.equal(command([...TRACE, program], { cwd }).status, 0);
  return path.join(cwd, 'a.ndjson');
}

/** A program that does not end by itself: ended when its log tells of the end of the window. */
async function traceWindow(program: string): Promise<string> {
  const cwd = temporaryFolder();
  const log = path.join(cwd, 'a.ndjson');
  const child = spawn(process.execPath, [MAIN, ...TRACE, '--for', '200ms', program], {
    cwd,
    env: environment(),
    stdio: 'ignore',
  });
  const end = once(child, 'exit');
  const isWritten = (): boolean => {
    try {
      return readFileSync(log, 'utf8').includes('"phase":"end"');
    } catch {
      return false;
    }
  };
  while (!isWritten()) {
    await new Promise((done) => setTimeout(done, 10));
  }
  child.kill('SIGTERM');
  const [, signal] = await end;
  assert.equal(signal, 'SIGTERM');
  return log;
}

function findings(name: 'stats' | 'leaks', log: string, ...flags: string[]): Finding[] {
  return (JSON.parse(command([name, '--json', ...flags, log]).stdout) as StatsReport | LeaksReport).findings;
}

function places(list: readonly Finding[], code: string): [string | undefined, number | undefined][] {
  return list
    .filter((finding) => finding.code === code)
    .map(({ evidence }) => evidence['site'] as { file: string; line: number } | null)
    .map((site) => [site?.file, site?.line]);
}

describe('a planted fault', () => {
  const faults: ['stats' | 'leaks', string, boolean][] = [
    ['stats', 'loop-held', true],
    ['stats', 'loop-starved', true],
    ['stats', 'fan-out', true],
    ['leaks', 'promise-pending', true],
    ['leaks', 'timer-running', false],
    ['leaks', 'handle-open', false],
  ];
  for (const [name, code, ends] of faults) {
    it(`${code} is named by ${name}, with its file and line`, async () => {
      const program = path.join(FIXTURES, `${code === 'handle-open' ? 'server-open' : code}.js`);
      const log = ends ? trace(program) : await traceWindow(program);
      const found = places(findings(name, log), code);
      assert.ok(
        found.some(([file, line]) => file === program && line === plantedLine(program, code)),
        JSON.stringify(found),
      );
      const { stdout } = command([name, log]);
      assert.match(stdout, new RegExp(`${code}: .*${path.basename(program)}:${plantedLine(program, code)}:`));
      if (name === 'leaks') {
        assert.equal(command(['leaks', '--fail', log]).status, 1);
      }
    });
  }

  it('a clean program has none', () => {
    const log = trace(path.join(FIXTURES, 'clean.js'));
    // How long its callbacks take depends on the machine.
    assert.deepEqual(findings('stats', log, '--threshold', '1h'), []);
    assert.deepEqual(findings('leaks', log), []);
    assert.equal(command(['leaks', '--fail', log]).status, 0);
  });
});
