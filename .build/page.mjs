// Compiles the script of the report's page and puts its modules into one file, dist/lib/report/page-script.txt, with the
// styles beside it: to Node.js it is a text. Each module becomes a function that gives its exports, after those that it imports. A bundler would be a
// dependency for these few lines.
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCE = join(ROOT, 'lib/report/page');
const OUTPUT = join(ROOT, 'dist/lib/report');
/** tsc also compiles what the page imports types from, so this folder is not the one of the package. */
const COMPILED = join(ROOT, 'dist/page');
const IMPORT = /^import (\{[^}]*\}) from ["']([^"']+)["'];$/gm;
const EXPORT = /^export (?=(?:function|const|let|class) (\w+))/gm;

const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', SOURCE], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

/** @type {string[]} the files in the order of their evaluation */
const files = [];
let text = "(() => {\n'use strict';\n";

function nameOf(file) {
  return `module${files.indexOf(file)}`;
}

function add(file) {
  if (files.includes(file)) return;
  const code = readFileSync(file, 'utf8');
  const fileOf = (request) => join(dirname(file), `${request}.js`);
  for (const [, , request] of code.matchAll(IMPORT)) add(fileOf(request));
  const names = [...code.matchAll(EXPORT)].map(([, name]) => name);
  const body = code
    .replace(IMPORT, (_line, imported, request) => `const ${imported} = ${nameOf(fileOf(request))};`)
    .replace(EXPORT, '')
    .replace(/^export \{\};\n/m, '');
  const rest = /^(?:import|export) .*/m.exec(body);
  if (rest !== null) throw new Error(`${file} has a line that is not understood here: ${rest[0]}`);
  files.push(file);
  text += `const ${nameOf(file)} = (() => {\n${body}return { ${names.join(', ')} };\n})();\n`;
}

add(join(COMPILED, 'lib/report/page/main.js'));
if (/<\/script|<!--/i.test(text)) throw new Error('the script of the page would end its own element');

writeFileSync(join(OUTPUT, 'page-script.txt'), `${text}})();\n`);
copyFileSync(join(SOURCE, 'page.css'), join(OUTPUT, 'page.css'));
rmSync(COMPILED, { recursive: true });
