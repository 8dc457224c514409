// Runs real packages bare and under `-r async-tracer/register`, and holds exit code and output of both against each other.
//
//   node test/packages/run.mjs            all of them
//   node test/packages/run.mjs --short    without vite and the longest part of avvio's own tests (CI)
//   node test/packages/run.mjs fastify ws only these
//
// Versions are pinned here; they are installed into .cache/packages, once. No install script runs.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = path.join(ROOT, '.cache', 'packages');
const PROGRAMS = path.join(ROOT, 'test', 'fixtures', 'packages');
const REGISTER = path.join(ROOT, 'dist', 'lib', 'register.js');
const VERSIONS = {
  fastify: '5.12.8',
  express: '5.3.0',
  undici: '7.30.2',
  ws: '8.23.0',
  mocha: '12.0.3',
  vite: '8.4.0',
  avvio: '9.3.1',
  pino: '10.4.0',
};
const TIMEOUT_MS = 120_000;
const SHORT_AVVIO = 8;
/**
 * How often a program is run bare at most. avvio's plugin-timeout-await.test.js sets timers of 10 ms one after another
 * and expects the last one to be late first, which on a busy machine holds in some runs only, traced or not.
 */
const BARE_MAX = 10;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean' } },
});

function install() {
  const isThere = Object.entries(VERSIONS).every(([name, version]) => {
    const manifest = path.join(FOLDER, 'node_modules', name, 'package.json');
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version;
  });
  if (isThere) return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(path.join(FOLDER, 'package.json'), JSON.stringify({ private: true, dependencies: VERSIONS }));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  const { status } = spawnSync('npm', ['install', ...flags], { cwd: FOLDER, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('npm could not install the packages');
}

/** What differs from run to run, and Node's own frames: with any hook it calls through one more function. */
function normal(text) {
  return text
    .replace(/\b\d+(\.\d+)?\s?(ms|s)\b/g, 'TIME')
    .replace(/duration_ms: .*/g, 'duration_ms: TIME')
    .replace(/([#ℹ]) duration_ms .*/g, '$1 duration_ms TIME')
    .replace(/^ +at .*\(?node:.*\)?\n/gm, '');
}

function run(program, args, trace) {
  const folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-packages-'));
  try {
    const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
    if (trace) {
      env.NODE_OPTIONS = `--require=${JSON.stringify(REGISTER)}`;
      env.ASYNC_TRACER_OUTPUT = path.join(folder, '%p-%t.ndjson');
    }
    const result = spawnSync(process.execPath, [program, ...args], {
      cwd: FOLDER,
      env: {
        ...env,
        NODE_V8_COVERAGE: undefined,
        NODE_PATH: path.join(FOLDER, 'node_modules'),
        NO_COLOR: '1',
      },
      encoding: 'utf8',
      timeout: TIMEOUT_MS,
    });
    const logs = readdirSync(folder).map((file) => readFileSync(path.join(folder, file), 'utf8'));
    return {
      outcome: {
        code: result.status,
        signal: result.signal,
        stdout: normal(result.stdout),
        stderr: normal(result.stderr),
      },
      logs,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Whole lines, and an end in every log but that of a thread, which Node terminates where the process ends before it. */
function problemsOf(log) {
  const lines = log.split('\n');
  if (lines.pop() !== '') return ['a log ends in part of a line'];
  try {
    const records = lines.map((line) => JSON.parse(line));
    const end = records.at(-1);
    if (end?.phase !== 'end') return records[0]?.thread > 0 ? [] : ['a log has no end'];
    return end.lost > 0 ? [`${end.lost} records were lost`] : [];
  } catch (error) {
    return [`a line is no JSON: ${error.message}`];
  }
}

function avvioTests() {
  const folder = path.join(FOLDER, 'node_modules', 'avvio', 'test');
  const files = readdirSync(folder).filter((file) => file.endsWith('.test.js'));
  return (values.short ? files.slice(0, SHORT_AVVIO) : files).map((file) => ({
    name: `avvio: test/${file}`,
    program: path.join(folder, file),
    args: [],
  }));
}

function cases() {
  const own = ['fastify', 'express', 'undici', 'ws', 'pino'].map((name) => ({
    name,
    program: path.join(PROGRAMS, `${name}.js`),
    args: [],
  }));
  const mocha = {
    name: 'mocha',
    program: path.join(FOLDER, 'node_modules', 'mocha', 'bin', 'mocha.js'),
    args: ['--reporter', 'dot', path.join(PROGRAMS, 'mocha-spec.js')],
  };
  const vite = {
    name: 'vite build',
    program: path.join(FOLDER, 'node_modules', 'vite', 'bin', 'vite.js'),
    args: ['build', path.join(PROGRAMS, 'site'), '--outDir', path.join(FOLDER, 'site'), '--emptyOutDir'],
  };
  const all = [...own, mocha, ...(values.short ? [] : [vite]), ...avvioTests()];
  return positionals.length === 0
    ? all
    : all.filter(({ name }) => positionals.some((part) => name.startsWith(part)));
}

install();
let failed = 0;
let passed = 0;
let records = 0;
const KEYS = ['code', 'signal', 'stdout', 'stderr'];
for (const { name, program, args } of cases()) {
  const bare = run(program, args, false);
  const traced = run(program, args, true);
  const differing = (one) => KEYS.filter((key) => one.outcome[key] !== traced.outcome[key]);
  let differ = differing(bare);
  let runs = 1;
  for (; differ.length > 0 && runs < BARE_MAX; runs++) {
    const again = differing(run(program, args, false));
    if (again.length === 0) differ = again;
  }
  const problems = traced.logs.flatMap(problemsOf);
  if (traced.logs.length === 0) problems.push('there is no log');
  for (const key of differ) {
    problems.push(`${key} is\n${traced.outcome[key]}\nbut bare\n${bare.outcome[key]}`);
  }
  const lines = traced.logs.reduce((sum, log) => sum + log.split('\n').length - 1, 0);
  records += lines;
  if (problems.length === 0) passed++;
  else failed++;
  console.log(
    `${problems.length === 0 ? 'ok' : 'not ok'} - ${name} (exit ${traced.outcome.code}, ${lines} records${runs > 1 ? `, ${runs} bare runs` : ''})`,
  );
  for (const problem of problems) console.log(problem.replace(/^/gm, '    '));
}
console.log(`${records} records\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
