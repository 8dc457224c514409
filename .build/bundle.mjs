// Puts the write side, as tsc has compiled it, into two files, since each file costs 0.3 to 0.5 ms to load (benchmark:
// `startup`): dist/lib/trace/index.js, in place, with what any trace to a file begins with, and on-demand.js with what
// only an option or another destination asks for. Each module stays a function of its own, with the code that tsc made
// of it, and runs when it is first asked for, as it would from a file.
//
// Why no bundler off the shelf: with esbuild 0.28 the first require takes longer. Medians of 40 alternations in fresh
// processes, ms more than with this file, Node 20 and 24: one file 0.9 and 1.0 (minified 0.6 and 0.9), two files by a
// plugin of our own 0.6 and 0.8 (minified 0.3 and 0.6), two files by its code splitting 3, since that loads at once what
// is imported by any module. Nor would the code that ships be the code that is tested: `const` becomes `var`.
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodedMap, FlattenMap } from '@jridgewell/trace-mapping';

const TRACE = fileURLToPath(new URL('../dist/lib/trace', import.meta.url));
const ENTRY = join(TRACE, 'index.js');
const ON_DEMAND = join(TRACE, 'on-demand.js');

/** What is not evaluated by the first require, and yet by a trace to a file that register begins. */
const SOON = ['destination/file.js', 'lifecycle/header.js', 'preload/preload.js'].map((file) =>
  join(TRACE, file),
);

/**
 * Loaded as a file of its own: `analyze` throws its errors without the write side. It reads the modules of log/ as files,
 * too, and these are in the bundle as well: 5 KB that stand twice in the package, or 0.3 ms more at the first require.
 */
const ERRORS = join(TRACE, '../errors.js');

/** At the top level, so that it runs with the module; what is required elsewhere waits until it is asked for. */
const IMPORT = /^(?:const|var) \w+ = (?:__\w+\()?$/;

// A module's __dirname is that of its own compiled file.
const HEAD = '"use strict";\nconst __folder = __dirname;\n';
const INDEX_HEAD = `${HEAD}const modules = {\n`;

/** @type {Map<string, { code: string, imports: string[], later: string[] }>} by file */
const modules = new Map();

function fileOf(request, from) {
  const path = join(dirname(from), request);
  const file = [`${path}.js`, join(path, 'index.js'), path].find((candidate) => existsSync(candidate));
  if (file === undefined) throw new Error(`${from} requires ${request}, which is not there: run tsc first`);
  return file;
}

/** As it is required from the folder of the bundle, and in one. */
function nameOf(file) {
  const name = relative(TRACE, file).replaceAll('\\', '/');
  return name.startsWith('.') ? name : `./${name}`;
}

function read(file) {
  if (modules.has(file)) return;
  const module = { code: '', imports: [], later: [] };
  modules.set(file, module);
  const code = readFileSync(file, 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?/m, '');
  if (code.startsWith(INDEX_HEAD)) throw new Error(`${file} is bundled already: run tsc first`);
  if (/\b__filename\b/.test(code)) {
    throw new Error(`${file} has __filename, which in the bundle would be that of ${ENTRY}`);
  }
  module.code = code.replace(/\brequire\((["'])(\.[^"']+)\1\)/g, (_call, _quote, request, at) => {
    const target = fileOf(request, file);
    if (target === ERRORS || target.endsWith('.json')) return `require("${nameOf(target)}")`;
    const before = code.slice(code.lastIndexOf('\n', at) + 1, at);
    (IMPORT.test(before) ? module.imports : module.later).push(target);
    return `__load("${nameOf(target)}")`;
  });
  for (const target of [...module.imports, ...module.later]) read(target);
}

/** The files, and what runs with them. */
function withImports(files, found = new Set()) {
  for (const file of files) {
    if (!found.has(file)) {
      found.add(file);
      withImports(modules.get(file).imports, found);
    }
  }
  return found;
}

/** Text and source map of a bundle: `head`, a function a file, `tail`. */
function write(bundle, head, files, tail) {
  let text = head;
  const sections = [];
  for (const [file, isEager] of files) {
    // In parentheses V8 compiles a function at once; it would read it twice otherwise.
    const [open, close] = isEager ? ['(', ')'] : ['', ''];
    text += `  "${nameOf(file)}": ${open}function (exports) {\n`;
    if (/\b__dirname\b/.test(modules.get(file).code)) {
      const folder = relative(TRACE, dirname(file)).replaceAll('\\', '/');
      text += `const __dirname = require("node:path").join(__folder, "${folder}");\n`;
    }
    const map = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
    const sources = map.sources.map((source) =>
      relative(dirname(bundle), join(dirname(file), source)).replaceAll('\\', '/'),
    );
    sections.push({ offset: { line: text.split('\n').length - 1, column: 0 }, map: { ...map, sources } });
    text += `${modules.get(file).code}}${close},\n`;
  }
  // Without their contents, of which there are none: what reads coverage looks for the files then.
  const { sourcesContent: _, ...map } = encodedMap(
    new FlattenMap({ version: 3, file: nameOf(bundle).slice(2), sections }),
  );
  writeFileSync(`${bundle}.map`, JSON.stringify(map));
  writeFileSync(bundle, `${text}${tail}//# sourceMappingURL=${map.file}.map`);
}

read(ENTRY);
for (const file of SOON) {
  if (!modules.has(file)) throw new Error(`nothing requires ${file}: SOON must name what register loads`);
}
const atOnce = withImports([ENTRY]);
const soon = withImports([...atOnce, ...SOON]);
const later = [...modules.keys()].filter((file) => !soon.has(file));

const INDEX_TAIL = `};
const loaded = {};
function __load(name) {
  let exports = loaded[name];
  if (exports === undefined) {
    const run = modules[name] ?? require("${nameOf(ON_DEMAND)}")(__load)[name];
    exports = loaded[name] = {};
    try {
      run(exports);
    } catch (error) {
      loaded[name] = undefined;
      throw error;
    }
  }
  return exports;
}
module.exports = __load("${nameOf(ENTRY)}");
`;
const ON_DEMAND_HEAD = `${HEAD}module.exports = (__load) => ({\n`;

write(
  ON_DEMAND,
  ON_DEMAND_HEAD,
  later.map((file) => [file, false]),
  '});\n',
);
write(
  ENTRY,
  INDEX_HEAD,
  [...soon].map((file) => [file, atOnce.has(file)]),
  INDEX_TAIL,
);

// In a clone the command is run as a file; what npm installs it makes executable itself.
chmodSync(join(TRACE, '../cli/main.js'), 0o755);
