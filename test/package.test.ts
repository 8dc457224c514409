/** Holds what a user installs: the packed tarball, its types, its entry points, and what stands at the top level. */
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
  // The entry points are measured elsewhere; coverage of a folder that is removed would be of no use.
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
    installed = path.join(folder, 'node_modules/async-tracer');
    mkdirSync(installed, { recursive: true });
    // As npm would, without the network: its dependencies are those of the clone.
    execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
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

  it('has one write side in one file, whichever of its entry points are taken', () => {
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

  /** Each file of the package, by its path in it. */
  function packedFiles(): string[] {
    return (readdirSync(installed, { recursive: true }) as string[])
      .filter((file) => !file.startsWith('node_modules') && statSync(path.join(installed, file)).isFile())
      .map((file) => file.replaceAll(path.sep, '/'));
  }

  const compiledFiles = (): string[] => packedFiles().filter((file) => /\.m?js$/.test(file));

  it('holds compiled files, their types, the documents, and nothing else', () => {
    const others = packedFiles().filter((file) => !/^dist\/lib\/.*\.(js|mjs|d\.ts|d\.mts)$/.test(file));
    assert.deepEqual(others.filter((file) => !/^lib\/(.*\/)?README\.md$/.test(file)).sort(), [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist/lib/log/schema.json',
      'dist/lib/report/page-script.txt',
      'dist/lib/report/page.css',
      'package.json',
    ]);
    assert.ok(others.includes('lib/README.md'));
  });

  it('holds each module once', () => {
    const sources = compiledFiles()
      .flatMap((file) => sourcesOf(path.join(ROOT, file)))
      .map((file) => path.relative(ROOT, file).replaceAll(path.sep, '/'));
    const twice = sources.filter((file, i) => sources.indexOf(file) !== i);
    // The definition of the log, 5 KB, which both sides need: as files they would slow the first require by 0.3 ms, and the
    // read side must not load the write side.
    assert.deepEqual(
      twice.filter((file) => !file.startsWith('lib/log/')),
      [],
    );
    assert.ok(sources.includes('lib/trace/hook/hook.ts'), 'the sources of a bundle are counted');
  });

  it('holds whatever its compiled files require', () => {
    const missing = compiledFiles().flatMap((file) => {
      const text = readFileSync(path.join(installed, file), 'utf8');
      const required = [...text.matchAll(/^(?!\s*(?:\/\/|\*)).*\brequire\("(\.[^"]+)"\)/gm)].map(
        ([, name]) => name,
      );
      return required.filter((name) => {
        const target = path.join(installed, path.dirname(file), name);
        return !['', '.js', '/index.js'].some(
          (end) => existsSync(target + end) && statSync(target + end).isFile(),
        );
      });
    });
    assert.deepEqual(missing, []);
  });

  it('holds no compiled file whose source is gone', () => {
    const sources = compiledFiles().flatMap((file) => sourcesOf(path.join(ROOT, file)));
    const orphans = sources.filter((file) => !existsSync(file));
    assert.deepEqual(orphans, []);
  });

  describe('does its work', () => {
    /** Runs a program of the folder, under these flags of Node. Its output, of standard error too. */
    function outputOf(name: string, text: string, ...flags: string[]): string {
      const program = path.join(folder, name);
      writeFileSync(program, text);
      const { status, output } = run(process.execPath, [...flags, program], folder);
      assert.equal(status, 0, output);
      return output;
    }

    function recordsOf(text: string): Record<string, unknown>[] {
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    }

    const logOf = (name: string): Record<string, unknown>[] =>
      recordsOf(readFileSync(path.join(folder, name), 'utf8'));

    it('by import', () => {
      const text = `import asyncTracer from 'async-tracer';
        const tracer = asyncTracer('import.ndjson');
        setTimeout(() => tracer.close(), 1);`;
      assert.equal(outputOf('import.mjs', text), '');
      assert.ok(logOf('import.ndjson').some(({ op, phase }) => op === 'Timeout' && phase === 'before'));
    });

    it('with every option that loads more', () => {
      const text = `const threads = require('node:worker_threads');
        threads.Worker = class extends threads.Worker {
          constructor(...given) {
            super(...given);
            this.on('error', (error) => console.log(error.message));
            this.on('online', () => { console.log('ticks'); clearInterval(timer); setTimeout(() => tracer.close(), 1); });
          }
        };
        const tracer = require('async-tracer')('options.ndjson', {
          stacks: true, contexts: true, promiseDestroy: false, resolve: true, clock: 'coarse', header: true,
          prefix: { app: 'a' }, include: '*', mkdir: true,
        });
        const timer = setInterval(() => {}, 1);
        (async () => { await null; })();`;
      assert.equal(outputOf('options.js', text), 'ticks\n');
      const log = logOf('options.ndjson');
      assert.ok(log.every(({ app }) => app === 'a'));
      const phases = new Set(log.map(({ phase }) => phase));
      assert.deepEqual(
        ['start', 'init', 'before', 'after', 'destroy', 'resolve', 'end'].filter(
          (phase) => !phases.has(phase),
        ),
        [],
      );
      assert.ok(
        log.some(({ op, stack }) => op === 'Timeout' && JSON.stringify(stack).includes('options.js')),
      );
      assert.ok(log.some(({ op, ctx }) => op === 'Timeout' && ctx !== undefined));
    });

    it('into a pipe and into a stream', () => {
      const text = (target: string): string => `const tracer = require('async-tracer')(${target});
        setTimeout(() => tracer.close(), 1);`;
      for (const target of ['1', '', 'process.stderr']) {
        const log = recordsOf(outputOf('pipe.js', text(target)));
        assert.ok(
          log.some(({ op, phase }) => op === 'Timeout' && phase === 'init'),
          target,
        );
      }
    });

    it('by -r and by --import, without a word where source maps are enabled', () => {
      const flags = ['-r', 'async-tracer/register', '--enable-source-maps'];
      for (const given of [flags, ['--import', ...flags.slice(1)]]) {
        const env = { ...process.env, ASYNC_TRACER_OUTPUT: 'register.ndjson', NODE_V8_COVERAGE: undefined };
        const { stderr } = spawnSync(process.execPath, [...given, '-e', 'setTimeout(() => {}, 1)'], {
          cwd: folder,
          env,
          encoding: 'utf8',
        });
        assert.equal(stderr, '');
        const log = logOf('register.ndjson');
        assert.deepEqual([log[0].phase, log.at(-1)?.phase], ['start', 'end']);
        rmSync(path.join(folder, 'register.ndjson'));
      }
    });

    it('for a test suite', () => {
      const text = `require('async-tracer/testing')
        .findLeaks(() => setInterval(() => {}, 1000), { settleMs: 1 })
        .then(({ leaks, result }) => { clearInterval(result); console.log(leaks.map(({ op }) => op)); });`;
      assert.equal(outputOf('testing.js', text), "[ 'Timeout' ]\n");
    });

    it('as a command, and the library reads what it wrote', () => {
      const app = `setInterval(() => {}, 1000);
        setTimeout(() => {
          for (const end = performance.now() + 60; performance.now() < end; );
          setTimeout(() => process.exit(), 1);
        }, 1);`;
      writeFileSync(path.join(folder, 'app.js'), app);
      const command = path.join(installed, manifest.bin['async-tracer']);
      const answer = (...args: string[]): string => {
        const { status, output } = run(process.execPath, [command, ...args], folder);
        assert.equal(status, 0, output);
        return output;
      };
      assert.match(answer('run', '--stacks', '--summary', '-o', 'run.ndjson', 'app.js'), /run\.ndjson/);
      for (const name of ['stats', 'leaks', 'tree', 'slow']) {
        assert.match(answer(name, 'run.ndjson'), /Timeout|app\.js/, name);
        assert.equal(typeof JSON.parse(answer(name, '--json', 'run.ndjson')), 'object', name);
        assert.match(answer(name, '--help'), new RegExp(`^Usage: async-tracer ${name}`));
      }
      assert.match(answer('run', '--help'), /--flush-interval/);
      assert.match(answer('completion', 'bash'), /async-tracer/);
      const misspelt = run(process.execPath, [command, 'stat'], folder);
      assert.match(misspelt.output, /Is stats meant\?/);
      const text = `require('async-tracer/analyze').analyzeStats('run.ndjson').then((stats) => console.log(typeof stats));`;
      assert.equal(outputOf('analyze.js', text), 'object\n');
    });
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
