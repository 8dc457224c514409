/** Holds what a user installs: the packed tarball, its types, its two doors, and what stands at the top level. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sourcesOf } from './support/modules';

const ROOT = path.join(__dirname, '../..');
const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));

function run(command: string, args: string[], cwd: string): { status: number | null; output: string } {
  // The doors are measured elsewhere; coverage of a folder that is removed would be of no use.
  // Undefined, not absent: Node hands the variable on to children whose env does not name it.
  const env = { ...process.env, NODE_V8_COVERAGE: undefined };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe('the packed package', () => {
  let folder: string;
  let installed: string;
  let tarball: string;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-package-'));
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
    const [packed] = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' }));
    tarball = path.join(folder, packed.filename);
    execFileSync('tar', ['-xzf', tarball, '-C', folder]);
    installed = path.join(folder, 'package');
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(installed, 'node_modules'));
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  it('has no complaint from publint', () => {
    const { status, output } = run('npx', ['--no-install', 'publint', '--strict', tarball], ROOT);
    assert.equal(status, 0, output);
    assert.doesNotMatch(output, /warning|suggestion|error/i);
  });

  it('has types that resolve in every way of importing it', () => {
    const { status, output } = run('npx', ['--no-install', 'attw', tarball, '--profile', 'node16'], ROOT);
    assert.equal(status, 0, output);
  });

  it('gives one instance to require and to import', () => {
    const script =
      "import('async-tracer').then(({ default: imported, Tracer, TracerError }) => {" +
      "const required = require('async-tracer');" +
      'console.log(imported === required, Tracer === required.Tracer, TracerError === required.TracerError)})';
    const { output } = run(process.execPath, ['-e', script], installed);
    assert.equal(output, 'true true true\n');
  });

  it('has one write side in one file, whichever of its doors are taken', () => {
    const program = path.join(folder, 'doors.js');
    writeFileSync(
      program,
      `const { Tracer, TracerError } = require('async-tracer');
      const { tracer } = require('async-tracer/register');
      const { LeakError } = require('async-tracer/testing');
      const { analyzeStats } = require('async-tracer/analyze');
      analyzeStats('/no/log').catch((error) => {
        console.log(tracer instanceof Tracer, LeakError.prototype instanceof TracerError, error instanceof TracerError);
        const trace = require('node:path').join(require.resolve('async-tracer'), '../trace/');
        console.log(Object.keys(require.cache).filter((file) => file.startsWith(trace)).map((file) => file.slice(trace.length)));
      });`,
    );
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(installed, path.join(folder, 'node_modules/async-tracer'));
    const { output } = run(process.execPath, [program], folder);
    assert.equal(output, "true true true\n[ 'index.js' ]\n");
  });

  /** The stacks of a program, of its own code and of a dependency's, in order. */
  function framesOf(program: string): string[] {
    const log = `${program}.ndjson`;
    const { output } = run(process.execPath, [program, log], folder);
    assert.equal(output, '');
    const records = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    return records
      .flatMap(({ stack = [] }: { stack?: string[] }) => stack)
      .filter((frame) => !frame.includes(':node:'));
  }

  const TRACED = `const tracer = require('async-tracer')(process.argv[2], { stacks: true, promises: false, exclude: 'ticks' });
    function begin() { setTimeout(() => {}, 1); }
    begin();
    tracer.flush();`;

  it('keeps its own frames out of stacks, and no others', () => {
    const program = path.join(folder, 'frames.js');
    writeFileSync(program, TRACED);
    assert.deepEqual(framesOf(program), [`begin:${program}:2:24`, `Object.<anonymous>:${program}:3:5`]);
  });

  for (const name of ['app.js', 'index.js']) {
    it(`takes no frame of a program for its own where a bundler has made one file, ${name}, of both`, (context) => {
      const trace = path.join(installed, 'dist/lib/trace');
      const whole = path.join(installed, 'dist/lib/whole');
      const program = path.join(whole, name);
      mkdirSync(whole);
      context.after(() => rmSync(whole, { recursive: true }));
      copyFileSync(path.join(trace, 'on-demand.js'), path.join(whole, 'on-demand.js'));
      const bundle = readFileSync(path.join(trace, 'index.js'), 'utf8').replace(
        'module.exports =',
        'const trace =',
      );
      writeFileSync(program, `${bundle}\n${TRACED.replace("require('async-tracer')", 'trace.asyncTracer')}`);
      const names = framesOf(program).map((frame) => frame.replace(/:\d+:\d+$/, ''));
      assert.deepEqual(names.slice(-2), [`begin:${program}`, `Object.<anonymous>:${program}`]);
    });
  }

  for (const entry of Object.keys(manifest.exports).filter(
    (name) => !name.endsWith('.json') && name !== './register',
  )) {
    it(`loads ${entry.replace('.', 'async-tracer')} by require and by import`, () => {
      const name = entry.replace('.', 'async-tracer');
      const script = `require('${name}'); import('${name}').then(() => console.log('loaded'))`;
      assert.equal(run(process.execPath, ['-e', script], installed).output, 'loaded\n');
    });
  }

  it('gives the schema of the log', () => {
    const script = "console.log(require('async-tracer/schema.json').title)";
    assert.match(run(process.execPath, ['-e', script], installed).output, /^A line of an async-tracer log/);
  });

  it('has a command that can be run', () => {
    const command = path.join(installed, manifest.bin['async-tracer']);
    assert.notEqual(statSync(command).mode & 0o111, 0, 'it is executable');
    assert.equal(run(process.execPath, [command, '--version'], installed).output, `${manifest.version}\n`);
  });

  it('holds lib/ as source and compiled, the documents, and nothing else', () => {
    const files = (readdirSync(installed, { recursive: true }) as string[])
      .filter((file) => !file.startsWith('node_modules') && statSync(path.join(installed, file)).isFile())
      .map((file) => file.replaceAll(path.sep, '/'));
    const others = files.filter((file) => !/^(dist\/)?lib\//.test(file)).sort();
    assert.deepEqual(others, ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']);
  });

  it('holds no compiled file whose source is gone', () => {
    const compiled = (readdirSync(path.join(installed, 'dist/lib'), { recursive: true }) as string[]).filter(
      (file) => /\.m?js$/.test(file),
    );
    const sources = compiled.flatMap((file) => sourcesOf(path.join(ROOT, 'dist/lib', file)));
    const orphans = sources.filter((file) => !existsSync(file));
    assert.deepEqual(orphans, []);
  });
});

describe('package.json', () => {
  it('asks for the versions of Node.js that the dependencies and require(esm) need', () => {
    assert.equal(manifest.engines.node, '^20.19.0 || ^22.12.0 || >=23');
  });

  it('names exact versions of its dependencies', () => {
    const versions: string[] = Object.values({ ...manifest.dependencies, ...manifest.devDependencies });
    assert.deepEqual(
      versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version)),
      [],
    );
  });
});

describe('the repository', () => {
  it('shows at its top level what the design names, and nothing else', () => {
    const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
    const top = new Set(files.map((file) => file.split('/')[0]).filter((name) => !name.startsWith('.')));
    assert.deepEqual([...top].sort(), [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'benchmark',
      'examples',
      'lib',
      'package-lock.json',
      'package.json',
      'test',
      'tsconfig.json',
    ]);
  });
});
