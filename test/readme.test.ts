/**
 * Checks the documents against the code: their tables against the tables they were made from, their programs against
 * what they print when they run as a user's would, their links against the files.
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
import { asyncTracer } from '../lib/trace';
import { OPTIONS } from '../lib/trace/options';

const ROOT = path.join(__dirname, '../..');
const README_LINES_MAX = 200;
const FILES = [
  'README.md',
  'CHANGELOG.md',
  'lib/README.md',
  'lib/log/README.md',
  'lib/cli/README.md',
  'lib/trace/README.md',
  'benchmark/README.md',
] as const;
const DOCUMENTS = Object.fromEntries(
  FILES.map((file) => [file, readFileSync(path.join(ROOT, file), 'utf8')]),
) as Record<(typeof FILES)[number], string>;
const README = DOCUMENTS['README.md'];
const LOG = DOCUMENTS['lib/log/README.md'];
const CLI = DOCUMENTS['lib/cli/README.md'];
const TRACE = DOCUMENTS['lib/trace/README.md'];
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

/** The cells of the first table of a document whose header is `header`. */
function table(markdown: string, header: string): string[][] {
  const at = markdown.indexOf(`\n| ${header} |\n`);
  assert.notEqual(at, -1, `there is no table with the columns ${header}`);
  const lines = markdown.slice(at + 1).split('\n');
  return lines.slice(2, lines.indexOf('')).map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.replaceAll('\\|', '|')),
  );
}

function firstColumn(markdown: string, header: string): string[] {
  return table(markdown, header).map(([cell]) => cell.replaceAll('`', ''));
}

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, text]) =>
    text
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** The links of a document to a file or a heading that does not exist. */
function brokenLinks(file: string, markdown: string): string[] {
  return [...markdown.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link)
    .filter((link) => {
      if (/^https?:/.test(link)) {
        return false;
      }
      const [target, anchor] = link.split('#');
      const to = target === '' ? path.join(ROOT, file) : path.join(ROOT, path.dirname(file), target);
      return (
        !existsSync(to) || (anchor !== undefined && !anchorsOf(readFileSync(to, 'utf8')).includes(anchor))
      );
    });
}

describe('README.md', () => {
  it(`has at most ${README_LINES_MAX} lines`, () => {
    assert.ok(README.trimEnd().split('\n').length <= README_LINES_MAX);
  });

  it('has the table of the options as the code has it', () => {
    assert.deepEqual(
      table(README, 'option | default | may be | what it does'),
      OPTIONS.map((option) => [
        `\`${option.name}\``,
        `\`${option.default}\``,
        option.expects,
        option.summary,
      ]),
    );
  });

  it('says the versions of Node.js that package.json says', () => {
    assert.ok(README.includes(`\`${PACKAGE.engines.node}\``));
  });

  it('names npm scripts and links to other documents', () => {
    assert.ok(/npm run [\w:-]+/.test(README));
    assert.ok(/\]\(lib\/[^)]+README\.md\)/.test(README));
  });
});

describe('lib/trace/README.md', () => {
  it('has the table of the error codes as the code has it', () => {
    assert.deepEqual(
      table(TRACE, 'code | meaning'),
      Object.entries(ERROR_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
    );
  });

  it('lists every member of a tracer, and no other', () => {
    const symbols: Record<string, symbol> = {
      '[Symbol.dispose]': Symbol.dispose,
      '[Symbol.asyncDispose]': Symbol.asyncDispose,
    };
    const listed = firstColumn(TRACE, 'member | what it does').map((cell) => {
      const name = cell.replace(/\(.*\)$/, '');
      return symbols[name] ?? name;
    });
    const tracer = asyncTracer('/dev/null', { autostart: false });
    tracer[Symbol.dispose]();
    const members = Reflect.ownKeys(tracer);
    assert.deepEqual(new Set(listed), new Set(members));
  });
});

describe('lib/log/README.md', () => {
  it('lists every field of an operation record in the order of the log, and names those of the others', () => {
    const listed = firstColumn(LOG, 'field | in phases | meaning');
    const others = table(LOG, 'phase | meaning')
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

  it('explains every field of the start and the end record', () => {
    const explained = [
      ...firstColumn(LOG, 'field of start | meaning'),
      ...firstColumn(LOG, 'field of end | meaning'),
    ];
    assert.deepEqual(explained, RECORD_FIELDS.slice(RECORD_FIELDS.indexOf('format'), -1));
  });

  it('lists every phase', () => {
    const phases = [...OPERATION_PHASES, 'lost', 'start', 'end'];
    assert.deepEqual(new Set(firstColumn(LOG, 'phase | meaning')), new Set(phases));
  });

  it('lists every area', () => {
    assert.deepEqual(firstColumn(LOG, 'area | ops'), [...AREAS]);
  });
});

describe('lib/cli/README.md', () => {
  const traceFlags = OPTIONS.map(
    ({ name }) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  );

  /** The flags that the help of a command lists, without those that every command has. */
  function flagsOf(command: string): string[] {
    const file = path.join(ROOT, PACKAGE.bin['async-tracer']);
    const { stdout } = spawnSync(process.execPath, [file, command, '--help'], { encoding: 'utf8' });
    return [...stdout.matchAll(/^ +(?:-\w, +)?(--[\w-]+)/gm)]
      .map(([, flag]) => flag)
      .filter((flag) => flag !== '--help' && flag !== '--version');
  }

  function listed(header: string): string[] {
    return firstColumn(CLI, header).map((cell) => cell.replace(/^-\w, /, ''));
  }

  it('lists every flag of run that is no option', () => {
    const flags = flagsOf('run').filter((flag) => !traceFlags.includes(flag));
    assert.deepEqual(listed('flag of run | what it does'), flags);
  });

  for (const command of ['report', 'view']) {
    it(`lists every flag of ${command}`, () => {
      assert.deepEqual(listed(`flag of ${command} | what it does`), flagsOf(command));
    });
  }

  for (const command of ['stats', 'slow', 'leaks', 'tree']) {
    it(`lists every flag of ${command}`, () => {
      const shared = listed('flag of all four | what it does');
      assert.deepEqual([...shared, ...listed(`flag of ${command} | what it does`)], flagsOf(command));
    });
  }

  it('lists every flag of export', () => {
    assert.deepEqual(listed('flag of export | what it does').sort(), flagsOf('export').sort());
  });
});

describe('the documents', () => {
  for (const [file, text] of Object.entries(DOCUMENTS)) {
    it(`${file} links to no file and no heading that does not exist`, () => {
      assert.deepEqual(brokenLinks(file, text), []);
    });

    it(`${file} names no npm script that does not exist`, () => {
      const named = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, script]) => script);
      assert.deepEqual(
        named.filter((script) => !(script in PACKAGE.scripts)),
        [],
      );
    });

    for (const { title, source, output, elsewhere } of programs(text)) {
      if (elsewhere !== undefined) {
        it(`${file} has a program that ${elsewhere} runs (${title})`, () => {
          assert.ok(existsSync(path.join(ROOT, elsewhere)));
        });
      } else {
        it(`${file} has a program that prints what is shown (${title})`, () => {
          assert.equal(comparable(run(source)), comparable(output));
        });
      }
    }
  }

  it('have programs', () => {
    assert.ok(Object.values(DOCUMENTS).flatMap(programs).length >= 5);
  });

  it('are searched for broken links', () => {
    assert.deepEqual(brokenLinks('lib/log/README.md', '[a](no.md) [b](#no) [c](../../README.md#install)'), [
      'no.md',
      '#no',
    ]);
  });
});

describe('lib/README.md', () => {
  it('says of every run-time dependency what it is for', () => {
    const text = DOCUMENTS['lib/README.md'];
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
    assert.ok(DOCUMENTS['CHANGELOG.md'].includes(`\n## ${PACKAGE.version}\n`));
  });
});
