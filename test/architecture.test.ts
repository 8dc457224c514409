/**
 * Holds the import table of lib/README.md against the import lines of lib/: what is imported and not in the table, and
 * what is in the table and imported nowhere.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { sourcesOf } from './support/modules';

const ROOT = path.join(__dirname, '../..');
const LIB = path.join(ROOT, 'lib');
const IMPORT =
  /^(?:import|export|\})[^;']*?from '([^'\n]+)'|^import '([^'\n]+)'|\b(?:require|import)\('([^'\n]+)'\)/gm;

interface Rule {
  /** As in the table: a folder with its slash, or a file with its extension. */
  place: string;
  lib: string[];
  /** Module, and the files (or folders with their slash) that may import it; none: all of the place. */
  foreign: { module: string; where: string[] }[];
  anyOfNode: boolean;
}

interface Import {
  /** Relative to lib/, as trace/hook.ts. */
  file: string;
  /** Relative to lib/ without extension where it is ours, else the module's name. */
  target: string;
  isForeign: boolean;
}

function rules(markdown: string): Rule[] {
  const lines = markdown.slice(markdown.indexOf('| folder or file | may import from lib |')).split('\n');
  return lines.slice(2, lines.indexOf('')).map((line) => {
    const [place, lib, foreign] = line.slice(2, -2).split(' | ');
    const parts = foreign.split('; ');
    return {
      place: place.replaceAll('`', ''),
      lib: [...lib.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
      foreign: parts.flatMap((part) => {
        const [modules, where = ''] = part.split(' in ');
        const files = where === '' ? [] : where.split(', ');
        return [...modules.matchAll(/`([^`]+)`/g)].map(([, module]) => ({ module, where: files }));
      }),
      anyOfNode: parts.includes("any of Node's own"),
    };
  });
}

function importsOf(file: string): Import[] {
  const source = readFileSync(path.join(LIB, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  return [...source.matchAll(IMPORT)].map(([, from, bare, called]) => {
    const name = from ?? bare ?? called;
    const isForeign = !name.startsWith('.');
    const target = path.posix.join(path.posix.dirname(file), name).replace(/\.js$/, '');
    return { file, target: isForeign ? name : target, isForeign };
  });
}

function isIn(file: string, place: string): boolean {
  return place.endsWith('/')
    ? `${file}/`.startsWith(place)
    : file.replace(/\.m?ts$/, '') === place.replace(/\.m?ts$/, '');
}

function isAllowed({ file, target, isForeign }: Import, rule: Rule): boolean {
  if (!isForeign) {
    // package.json, for the version
    return target === '../../package.json' || [rule.place, ...rule.lib].some((place) => isIn(target, place));
  }
  const folder = rule.place.endsWith('/') ? rule.place : '';
  const named = rule.foreign.filter(({ module }) => module === target);
  return (
    named.some(({ where }) => where.length === 0 || where.some((one) => isIn(file, folder + one))) ||
    (named.length === 0 && rule.anyOfNode && target.startsWith('node:'))
  );
}

const files = readdirSync(LIB, { recursive: true })
  .map((file) => String(file).replaceAll(path.sep, '/'))
  .filter((file) => /\.m?ts$/.test(file) && !file.endsWith('.d.ts'));
const table = rules(readFileSync(path.join(LIB, 'README.md'), 'utf8'));
const imports = files.flatMap(importsOf);

function ruleOf(file: string): Rule | undefined {
  return table.find(({ place }) => (place.endsWith('/') ? file.startsWith(place) : file === place));
}

describe('the import table of lib/README.md', () => {
  it('has a row for every file of lib/', () => {
    assert.deepEqual(
      files.filter((file) => ruleOf(file) === undefined),
      [],
    );
  });

  it('allows every import of lib/', () => {
    const foul = imports.filter((one) => !isAllowed(one, ruleOf(one.file) as Rule));
    assert.deepEqual(
      foul.map(({ file, target }) => `${file} imports ${target}`),
      [],
    );
  });

  it('allows nothing that no file needs', () => {
    const idle = table.flatMap(({ place, foreign }) => {
      const folder = place.endsWith('/') ? place : '';
      return foreign.flatMap(({ module, where }) =>
        (where.length === 0 ? [place] : where.map((one) => folder + one))
          .filter((one) => !imports.some(({ file, target }) => target === module && isIn(file, one)))
          .map((one) => `${module} in ${one}`),
      );
    });
    assert.deepEqual(idle, []);
  });

  it('refuses an import that is not in it', () => {
    const refused = (file: string, target: string, isForeign: boolean): boolean =>
      !isAllowed({ file, target, isForeign }, ruleOf(file) as Rule);
    assert.deepEqual(
      [
        refused('log/event.ts', 'errors', false),
        refused('trace/hook/hook.ts', 'analyze/read/reader', false),
        refused('analyze/stats/stats.ts', 'trace/options', false),
        refused('trace/encode/encoder.ts', 'node:fs', true),
        refused('trace/hook/hook.ts', 'sonic-boom', true),
        refused('cli/main.ts', 'sonic-boom', true),
        refused('main.ts', 'trace/tracer/tracer', false),
        refused('testing/leaks.ts', 'trace/runtime/own-operations', false),
        refused('cli/main.ts', 'cli-table3', true),
        refused('trace/destination/sonic-boom.ts', 'sonic-boom', true),
      ],
      [true, true, true, true, true, true, true, true, true, false],
    );
  });
});

describe("require('async-tracer')", () => {
  function dependenciesLoadedBy(script: string): string[] {
    const list = 'console.log(JSON.stringify(Object.keys(require.cache)))';
    const { stdout } = spawnSync(process.execPath, ['-e', `${script}; ${list}`], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    const loaded = (JSON.parse(stdout) as string[])
      .flatMap(sourcesOf)
      .map((file) => path.relative(ROOT, file).replaceAll(path.sep, '/'));
    const ours = /^(lib\/((trace|log)\/.*|(errors|main)\.ts)|package\.json)$/;
    return [...new Set(loaded.filter((file) => !ours.test(file)).map((file) => file.split('/')[1]))].sort();
  }

  it('loads the write side, the log and one dependency, and nothing else', () => {
    assert.deepEqual(dependenciesLoadedBy("require('async-tracer')"), ['on-exit-leak-free']);
  });

  it('loads SonicBoom for a file, and what reads stacks only where an option needs it', () => {
    const file = ['atomic-sleep', 'on-exit-leak-free', 'sonic-boom'];
    const trace = (options: string): string =>
      `require('async-tracer')(require('node:path').join(require('node:os').tmpdir(), 'architecture-' + process.pid + '.ndjson'), ${options}).close(); process.on('exit', () => require('node:fs').rmSync(require('node:path').join(require('node:os').tmpdir(), 'architecture-' + process.pid + '.ndjson')))`;
    assert.deepEqual(dependenciesLoadedBy(trace('{}')), file);
    const stacks = ['atomic-sleep', 'error-stack-parser', 'on-exit-leak-free', 'sonic-boom', 'stackframe'];
    assert.deepEqual(dependenciesLoadedBy(trace('{ stacks: true }')), stacks);
    // At a crash, for the error in `end`, there may be no descriptor left to load it by.
    assert.deepEqual(dependenciesLoadedBy(trace('{ header: true }')), stacks);
  });
});
