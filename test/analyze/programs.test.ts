/** Real programs under the real tracer: what is planted is named with its file and line, and a clean one gets no finding. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { analyzeLeaks, analyzeStats, type Finding } from '../../lib/analyze';

const FIXTURES = join(__dirname, '../../../test/fixtures/analyze');
const folder = mkdtempSync(join(tmpdir(), 'async-tracer-programs-'));
after(() => rmSync(folder, { recursive: true }));

function trace(program: string, options: object): string {
  const log = join(folder, `${program}.ndjson`);
  execFileSync(process.execPath, ['-r', join(FIXTURES, 'trace.cjs'), join(FIXTURES, 'programs', program)], {
    env: { ...process.env, TRACE_LOG: log, TRACE_OPTIONS: JSON.stringify(options) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return log;
}

/** "code op line": the line's text stands in for its number, which an edit may move. */
function places(program: string, findings: Finding[]): string[] {
  const source = readFileSync(join(FIXTURES, 'programs', program), 'utf8').split('\n');
  return findings.map(({ code, evidence }) => {
    const site = evidence['site'] as { file: string; line: number } | null;
    const file = site?.file.startsWith('file:') ? fileURLToPath(site.file) : site?.file;
    assert.equal(file, join(FIXTURES, 'programs', program));
    return `${code} ${evidence['op']} ${source[site!.line - 1].trim()}`;
  });
}

async function findings(program: string, options: object): Promise<string[]> {
  const log = trace(program, options);
  const stats = await analyzeStats(log);
  assert.deepEqual([stats.log.foreign, stats.log.cut, stats.log.lost, stats.log.runs.length], [0, 0, 0, 1]);
  assert.equal(stats.log.runs[0].complete, true);
  return places(program, [...stats.findings, ...(await analyzeLeaks(log)).findings]);
}

const FULL = { stacks: true, contexts: true, resolve: true, header: true };

describe('a planted problem is named with its place', () => {
  const planted: Record<string, string[]> = {
    'server-open.js': ["handle-open TCPSERVER server.listen(0, '127.0.0.1', () => {"],
    'timer-running.js': [
      'timer-running Timeout setInterval(() => {',
      'timer-running Timeout setTimeout(() => {}, 3_600_000);',
    ],
    'promise-pending.js': [
      'promise-pending PROMISE async function reply() {',
      'promise-pending PROMISE return await new Promise(() => {});',
    ],
    'loop-held.js': ['loop-held Timeout setTimeout(() => {'],
    'fan-out.js': ['fan-out FSREQCALLBACK fs.stat(__filename, () => {});'],
    'tick-chain.js': ['loop-starved TickObject if (Date.now() < until) process.nextTick(again);'],
  };
  for (const [program, expected] of Object.entries(planted)) {
    it(program, async () => {
      const found = await findings(program, FULL);
      for (const finding of expected)
        assert.ok(found.includes(finding), `${finding} in\n${found.join('\n')}`);
      // A machine under load may hold a loop by itself; nothing else may be said.
      assert.deepEqual(
        found.filter((finding) => !finding.startsWith('loop-') && !expected.includes(finding)),
        [],
      );
    });
  }
});

describe('without stacks', () => {
  it('a server that was left open and an interval that runs are still listed, without their place', async () => {
    const told = async (program: string) =>
      (await analyzeLeaks(trace(program, {}))).findings.map(({ code, evidence }) => [
        code,
        evidence['op'],
        evidence['site'],
      ]);
    assert.deepEqual(await told('server-open.js'), [['handle-open', 'TCPSERVER', null]]);
    assert.deepEqual(await told('timer-running.js'), [['timer-running', 'Timeout', null]]);
  });
});

describe('a clean program gets no finding', () => {
  const options: Record<string, object> = {
    'with all options': FULL,
    'with stacks': { stacks: true, header: true },
    'without header, stacks and contexts': {},
    'with resolve alone': { resolve: true },
  };
  for (const program of ['clean.js', 'clean.mjs']) {
    for (const [name, values] of Object.entries(options)) {
      it(`${program}, traced ${name}`, async () => {
        const log = trace(program, values);
        // A machine under load may hold a loop for 50 ms by itself.
        const { findings: of } = await analyzeStats(log, { heldMs: 10_000, starvedMs: 10_000 });
        assert.deepEqual([...of, ...(await analyzeLeaks(log)).findings], []);
      });
    }
  }
});
