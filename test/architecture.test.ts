/**
 * Checks the import lines of lib/ against the import table of lib/README.md, and the shape of lib/: no cycle of imports,
 * at most eight layers in the write side, no file over 300 lines without a reason in its head.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
    const index = `${target}/index`;
    const isFolder = existsSync(path.join(LIB, `${index}.ts`));
    return { file, target: isForeign ? name : isFolder ? index : target, isForeign };
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

/** Imports by file, each with its extension; type imports and lazy `require` calls count. */
type Graph = ReadonlyMap<string, readonly string[]>;

const graph: Graph = new Map(
  files.map((file) => [
    file,
    imports
      .filter((one) => one.file === file && !one.isForeign)
      .flatMap(({ target }) => files.filter((candidate) => candidate === `${target}.ts`)),
  ]),
);

/** The first cycle that is found, as a path that ends where it begins; empty where there is none. */
function cycleIn(imported: Graph): string[] {
  const done = new Set<string>();
  function visit(file: string, path: readonly string[]): string[] {
    if (path.includes(file)) {
      return [...path.slice(path.indexOf(file)), file];
    }
    if (!done.has(file)) {
      done.add(file);
      for (const target of imported.get(file) ?? []) {
        const cycle = visit(target, [...path, file]);
        if (cycle.length > 0) {
          return cycle;
        }
      }
    }
    return [];
  }
  for (const file of imported.keys()) {
    const cycle = visit(file, []);
    if (cycle.length > 0) {
      return cycle;
    }
  }
  return [];
}

/** The longest chain of imports, among the files of `place` alone. The graph must have no cycle. */
function longestChain(imported: Graph, place: string): string[] {
  const chains = new Map<string, string[]>();
  function chainFrom(file: string): string[] {
    const known = chains.get(file);
    if (known !== undefined) {
      return known;
    }
    const below = (imported.get(file) ?? [])
      .filter((target) => target.startsWith(place))
      .map(chainFrom)
      .reduce((longest, chain) => (chain.length > longest.length ? chain : longest), []);
    const chain = [file, ...below];
    chains.set(file, chain);
    return chain;
  }
  return [...imported.keys()]
    .filter((file) => file.startsWith(place))
    .map(chainFrom)
    .reduce((longest, chain) => (chain.length > longest.length ? chain : longest), []);
}

/**
 * Folders that import one another, as "a <-> b"; a folder is all of a path up to its last slash. The top of lib/ counts for
 * none: it holds the entry points above all folders, and the errors below them.
 */
function mutualFolders(imported: Graph): string[] {
  const folderOf = (file: string): string => path.posix.dirname(file);
  const pairs = new Set<string>();
  for (const [file, targets] of imported) {
    for (const target of targets) {
      if (folderOf(file) !== folderOf(target)) {
        pairs.add(`${folderOf(file)} ${folderOf(target)}`);
      }
    }
  }
  return [...pairs]
    .map((pair) => pair.split(' '))
    .filter(([a, b]) => a !== '.' && a < b && pairs.has(`${b} ${a}`))
    .map(([a, b]) => `${a} <-> ${b}`)
    .sort();
}

/** Files over `max` lines whose head, the comment before the first line of code, does not say why ("One file: ..."). */
function longFiles(sources: ReadonlyMap<string, string>, max: number): string[] {
  return [...sources]
    .filter(([, text]) => text.split('\n').length - 1 > max)
    .filter(([, text]) => !/^\/\*\*(?:(?!\*\/)[\s\S])*\bOne file\b/.test(text))
    .map(([file]) => file);
}

const LAYERS_MAX = 8;
const LINES_MAX = 300;

describe('the shape of lib/', () => {
  it('has no cycle of imports, types included', () => {
    assert.deepEqual(cycleIn(graph), []);
  });

  it('has no two folders that import one another', () => {
    assert.deepEqual(mutualFolders(graph), []);
  });

  it(`has at most ${LAYERS_MAX} layers in trace/`, () => {
    const chain = longestChain(graph, 'trace/');
    assert.ok(chain.length <= LAYERS_MAX, `${chain.length} layers: ${chain.join(' -> ')}`);
    assert.equal(chain[0], 'trace/index.ts');
  });

  it(`has no file over ${LINES_MAX} lines without a reason in its head`, () => {
    const sources = new Map(files.map((file) => [file, readFileSync(path.join(LIB, file), 'utf8')]));
    assert.deepEqual(longFiles(sources, LINES_MAX), []);
  });

  it('is read by checks that can fail', () => {
    const ring: Graph = new Map([
      ['trace/a.ts', ['trace/b/c.ts']],
      ['trace/b/c.ts', ['trace/b/d.ts']],
      ['trace/b/d.ts', ['trace/b/c.ts', 'trace/e.ts']],
      ['trace/e.ts', ['trace/b/c.ts']],
    ]);
    assert.deepEqual(cycleIn(ring), ['trace/b/c.ts', 'trace/b/d.ts', 'trace/b/c.ts']);
    assert.deepEqual(mutualFolders(ring), ['trace <-> trace/b']);
    const line: Graph = new Map([
      ['trace/a.ts', ['trace/b.ts', 'log/x.ts']],
      ['trace/b.ts', ['trace/c.ts']],
      ['trace/c.ts', []],
      ['log/x.ts', []],
    ]);
    assert.deepEqual(longestChain(line, 'trace/'), ['trace/a.ts', 'trace/b.ts', 'trace/c.ts']);
    const sources = new Map([
      ['long.ts', 'x\n'.repeat(4)],
      ['reasoned.ts', `/** One file: a table. */\n${'x\n'.repeat(4)}`],
      ['short.ts', 'x\n'],
    ]);
    assert.deepEqual(longFiles(sources, 3), ['long.ts']);
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
