/**
 * Holds README.md against the code: its tables against the tables they were made from, its programs against what they
 * print when they run as a user's would.
 *
 * A js block is run. Where a block of `ndjson` or `text` follows it directly, that is its whole output; where none
 * does, it prints nothing. One that another test runs stands under a comment that names it: <!-- run by test/x.test.ts -->
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { ERROR_CODES } from '../lib/errors';
import { AREAS } from '../lib/log/area';
import { OPERATION_PHASES, RECORD_FIELDS } from '../lib/log/event';
import { OPTIONS } from '../lib/trace/options';
import { Tracer } from '../lib/trace/tracer/tracer';

const ROOT = path.join(__dirname, '../..');
const README = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const PACKAGE = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
const FENCE =
  /(?:<!-- run by (\S+) -->\n+)?^```(\w*)\n([\s\S]*?)^```\n(?:\n```(ndjson|text)\n([\s\S]*?)^```$)?/gm;

interface Program {
  title: string;
  source: string;
  output: string;
  /** The test that runs it, where it is not this one. */
  elsewhere: string | undefined;
}

function programs(markdown: string): Program[] {
  return [...markdown.matchAll(FENCE)]
    .filter(([, , language]) => language === 'js')
    .map(({ 1: elsewhere, 3: source, 5: output = '', index }) => {
      const heading = [...markdown.slice(0, index).matchAll(/^#+ (.*)$/gm)].pop()?.[1];
      return { title: `${heading}: ${source.trimEnd().split('\n').pop()}`, source, output, elsewhere };
    });
}

/** Runs a program in a folder where the package is installed, and gives what it printed on both of its streams. */
function run(source: string): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'async-tracer-readme-')));
  try {
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(ROOT, path.join(folder, 'node_modules', 'async-tracer'), 'junction');
    const file = path.join(folder, /^import /m.test(source) ? 'app.mjs' : 'app.js');
    writeFileSync(file, source);
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd: folder, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return `${stderr}${stdout}`.replaceAll(folder, '/app');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Times become T, and ids numbers in the order of their first appearance: both differ from run to run. */
function comparable(output: string): string {
  const ids = new Map<string, string>();
  return output
    .replace(/"time":\d{13}\.\d{3}(?=[,}])/g, '"time":T')
    .replace(/"((?:parent|exec)?opid)":(\d+)/g, (_, field, id) => {
      if (Number(id) > 1 && !ids.has(id)) {
        ids.set(id, `ID${ids.size + 1}`);
      }
      return `"${field}":${ids.get(id) ?? id}`;
    });
}

/** The cells of the first table under a heading whose header is `header`. */
function table(header: string): string[][] {
  const at = README.indexOf(`\n| ${header} |\n`);
  assert.notEqual(at, -1, `the README has no table with the columns ${header}`);
  const lines = README.slice(at + 1).split('\n');
  return lines.slice(2, lines.indexOf('')).map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.replaceAll('\\|', '|')),
  );
}

function firstColumn(header: string): string[] {
  return table(header).map(([cell]) => cell.replaceAll('`', ''));
}

describe('README.md', () => {
  it('has the table of the options as the code has it', () => {
    assert.deepEqual(
      table('option | default | may be | what it does'),
      OPTIONS.map((option) => [
        `\`${option.name}\``,
        `\`${option.default}\``,
        option.expects,
        option.summary,
      ]),
    );
  });

  it('has the table of the error codes as the code has it', () => {
    assert.deepEqual(
      table('code | meaning'),
      Object.entries(ERROR_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
    );
  });

  it('lists every member of a tracer, and no other', () => {
    const symbols: Record<string, symbol> = {
      '[Symbol.dispose]': Symbol.dispose,
      '[Symbol.asyncDispose]': Symbol.asyncDispose,
    };
    const listed = firstColumn('member | what it does').map((cell) => {
      const name = cell.replace(/\(.*\)$/, '');
      return symbols[name] ?? name;
    });
    const members = Reflect.ownKeys(Tracer.prototype).filter((key) => key !== 'constructor');
    assert.deepEqual(new Set(listed), new Set(members));
  });

  it('lists every field of an operation record in the order of the log, and names those of the others', () => {
    const listed = firstColumn('field | in phases | meaning');
    const others = table('phase | meaning')
      .map((row) => row.join())
      .join();
    const named = RECORD_FIELDS.filter((field) => others.includes(`\`${field}\``));
    assert.deepEqual(new Set([...listed, ...named]), new Set(RECORD_FIELDS.concat('phase')));
    const record = [
      'opid',
      'op',
      'phase',
      'area',
      'parentopid',
      'parentop',
      'execopid',
      'time',
      'stack',
      'ctx',
    ];
    assert.deepEqual(listed, [...record, 'count']);
  });

  it('lists every phase', () => {
    const phases = [...OPERATION_PHASES, 'lost', 'start', 'end'];
    assert.deepEqual(new Set(firstColumn('phase | meaning')), new Set(phases));
  });

  it('lists every area', () => {
    assert.deepEqual(firstColumn('area | ops'), [...AREAS]);
  });

  it('says the versions of Node.js that package.json says', () => {
    assert.ok(README.includes(`\`${PACKAGE.engines.node}\``));
  });

  it('names no npm script that does not exist', () => {
    const named = [...README.matchAll(/npm run ([\w:-]+)/g)].map(([, script]) => script);
    assert.ok(named.length > 0);
    assert.deepEqual(
      named.filter((script) => !(script in PACKAGE.scripts)),
      [],
    );
  });

  it('links to no file and no heading that does not exist', () => {
    const anchors = [...README.matchAll(/^#+ (.*)$/gm)].map(
      ([, text]) =>
        `#${text
          .toLowerCase()
          .replace(/[^\w\- ]/g, '')
          .replaceAll(' ', '-')}`,
    );
    const links = [...README.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
    assert.ok(links.length > 0);
    assert.deepEqual(
      links.filter((link) =>
        link.startsWith('#')
          ? !anchors.includes(link)
          : !/^https?:/.test(link) && !existsSync(path.join(ROOT, link)),
      ),
      [],
    );
  });

  for (const { title, source, output, elsewhere } of programs(README)) {
    if (elsewhere !== undefined) {
      it(`has a program that ${elsewhere} runs (${title})`, () => {
        assert.ok(existsSync(path.join(ROOT, elsewhere)));
      });
    } else {
      it(`has a program that prints what is shown (${title})`, () => {
        assert.equal(comparable(run(source)), comparable(output));
      });
    }
  }

  it('has programs', () => {
    assert.ok(programs(README).length >= 5);
  });
});

describe('lib/README.md', () => {
  it('says of every run-time dependency what it is for', () => {
    const text = readFileSync(path.join(ROOT, 'lib/README.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name);
    const dependencies = Object.keys(PACKAGE.dependencies);
    assert.deepEqual(
      dependencies.filter((name) => !rows.includes(name)),
      [],
    );
  });
});

describe('CHANGELOG.md', () => {
  it('has an entry for the version of the package', () => {
    const text = readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8');
    assert.ok(text.includes(`\n## ${PACKAGE.version}\n`));
  });
});
