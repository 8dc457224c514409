// Runs the compiled tests (dist/test/**/*.test.js) under one or several versions of Node.js, and sums up their counts.
//
//   node test/run.mjs                            all tests, on the Node.js that runs this
//   node test/run.mjs --nodes 20,22,24,26        all tests on each of them
//   node test/run.mjs --nodes 22,24 conformance  those test files whose path contains "conformance"
//   node test/run.mjs --counts FILE              append "<passed> <failed> <skipped> <label>" a version to FILE
//
// Lists are expanded here: the test runner of Node 20 knows no glob patterns.
// Node.js binaries come from the npm registry into .cache/node/<major>/, once; no install script runs.
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The exact version of each supported line that the tests run on. The first one is also the machine's own, mostly. */
const VERSIONS = { 20: '20.20.2', 22: '22.23.5', 24: '24.22.3', 26: '26.12.1' };

/** How long the tests of one version may take, ms: a hang is a failure, and CI has 90 minutes. */
const TIMEOUT_MS = 30 * 60_000;

function fail(message) {
  console.error(`test/run.mjs: ${message}`);
  process.exit(2);
}

/** The path of a Node.js binary of `major`: the one that runs this, or one from the registry. */
function binaryOf(major) {
  if (process.versions.node.split('.')[0] === major) return process.execPath;
  const version =
    VERSIONS[major] ?? fail(`no version is known for Node ${major}; known are ${Object.keys(VERSIONS)}`);
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const prefix = join(ROOT, '.cache', 'node', major);
  const binary = join(
    prefix,
    'node_modules',
    name,
    'bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  );
  const isThere = () => existsSync(binary) && versionOf(binary) === `v${version}`;
  if (!isThere()) {
    mkdirSync(prefix, { recursive: true });
    const flags = ['--prefix', prefix, '--ignore-scripts', '--no-save', '--no-audit', '--no-fund'];
    const { status } = spawnSync('npm', ['install', ...flags, `${name}@${version}`], {
      stdio: ['ignore', 2, 2],
    });
    if (status !== 0 || !isThere()) fail(`npm could not install ${name}@${version} into ${prefix}`);
  }
  return binary;
}

function versionOf(binary) {
  return spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout?.trim();
}

/** Runs `files` under `binary`, showing every test, and gives the counts that the runner closes with. */
function run(binary, files) {
  const folder = mkdtempSync(join(tmpdir(), 'async-tracer-test-'));
  const tap = join(folder, 'tap');
  const reporters = ['spec', 'stdout', 'tap', tap];
  const flags = reporters.map((value, i) => `--test-reporter${i % 2 ? '-destination' : ''}=${value}`);
  // A test runner that runs inside another one reports in a format of its own: not here.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, signal } = spawnSync(binary, ['--test', ...flags, ...files], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: TIMEOUT_MS,
  });
  const closing = existsSync(tap) ? readFileSync(tap, 'utf8') : '';
  rmSync(folder, { recursive: true });
  const count = (name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(closing)?.[1] ?? 0);
  const counts = {
    passed: count('pass'),
    failed: count('fail') + count('cancelled'),
    skipped: count('skipped') + count('todo'),
  };
  // The runner's own word wins over the counts: a file that ends with an error outside of a test, a run that was cut.
  if (status !== 0 && counts.failed === 0) counts.failed = 1;
  if (signal !== null) console.error(`test/run.mjs: ended by ${signal} after at most ${TIMEOUT_MS} ms`);
  return counts;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { nodes: { type: 'string' }, counts: { type: 'string' } },
});

const compiled = join(ROOT, 'dist', 'test');
if (!existsSync(compiled)) fail('there is no dist/test: run `npm run build` first');
const files = readdirSync(compiled, { recursive: true })
  .map((file) => relative(ROOT, join(compiled, String(file))))
  .filter((file) => file.endsWith('.test.js'))
  .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .sort();
if (files.length === 0) fail(`no test file matches ${positionals.join(' or ')}`);

const binaries = values.nodes === undefined ? [process.execPath] : values.nodes.split(',').map(binaryOf);
const total = { passed: 0, failed: 0, skipped: 0 };
const lines = [];
for (const binary of binaries) {
  const label = versionOf(binary);
  console.log(`\n# Node ${label}, ${files.length} test files`);
  const { passed, failed, skipped } = run(binary, files);
  if (passed + failed === 0) fail(`no test ran on Node ${label}`);
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
  lines.push(`Node ${label}: ${passed} passed, ${failed} failed, ${skipped} skipped`);
  if (values.counts !== undefined) appendFileSync(values.counts, `${passed} ${failed} ${skipped} ${label}\n`);
}
console.log(`\n${lines.join('\n')}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;
