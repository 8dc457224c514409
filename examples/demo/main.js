// Traces the HTTP server in server.js under a short load, then reads the log and shows what is in it.
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { createInterface } = require('node:readline');
const load = require('./load');

const REQUESTS = 1000;
const CONNECTIONS = 10;
const PHASES = ['init', 'before', 'after', 'destroy'];
const OPS_SHOWN = 12;
const FIRST_LINES = 8;

const width = process.stdout.columns ?? 80;
const log = path.join(os.tmpdir(), 'async-tracer-demo.ndjson');

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});

async function main() {
  console.log('\nAn HTTP server that reads a file and waits 2 ms for each request, under trace\n');
  const server = spawn(process.execPath, [path.join(__dirname, 'server.js'), log], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(server, 'exit');
  const [port] = await once(server.stdout.setEncoding('utf8'), 'data');
  const startMs = performance.now();
  const answered = await load(Number(port), REQUESTS, CONNECTIONS);
  const seconds = (performance.now() - startMs) / 1000;
  server.stdin.end();
  const [code] = await exit;
  console.log(
    `${number(answered)} of ${number(REQUESTS)} requests answered over ${CONNECTIONS} connections in ${seconds.toFixed(1)} s,`,
    `exit code ${code}\n`,
  );

  const trace = await read(log);
  showCounts(trace.ops);
  showFirstLines(trace.first);
  const whole = PHASES.every((phase) => trace.end?.counts[phase] === total(trace.ops, phase));
  console.log(`log      ${log}`);
  console.log(`size     ${(fs.statSync(log).size / 1e6).toFixed(1)} MB, ${number(trace.lines)} lines`);
  console.log(`whole    ${whole ? 'yes: its end record counts as many records as it holds' : 'NO'}`);
  console.log(`lost     ${trace.end?.lost ?? 'unknown: it has no end record'}`);
  console.log(`ask it   npx async-tracer stats ${log}\n`);
  process.exitCode = answered === REQUESTS && code === 0 && whole && trace.end.lost === 0 ? 0 : 1;
}

/** Each line of the log is a JSON object, so JSON.parse is enough to read it. */
async function read(file) {
  const ops = new Map();
  const first = [];
  let lines = 0;
  let end;
  for await (const line of createInterface({ input: fs.createReadStream(file) })) {
    const record = JSON.parse(line);
    lines++;
    if (first.length < FIRST_LINES) {
      first.push(line);
    }
    if (record.phase === 'end') {
      end = record;
    } else if (record.opid !== undefined) {
      const name = record.op ?? '(begun before)';
      const counts = ops.get(name) ?? { area: record.area ?? '', init: 0, before: 0, after: 0, destroy: 0 };
      counts[record.phase]++;
      ops.set(name, counts);
    }
  }
  return { ops, first, lines, end };
}

function showCounts(ops) {
  const row = (op, area, cells) =>
    console.log(op.padEnd(22) + area.padEnd(10) + cells.map((cell) => cell.padStart(11)).join(''));
  const sum = (counts) => PHASES.reduce((all, phase) => all + counts[phase], 0);
  const sorted = [...ops].sort(([, a], [, b]) => sum(b) - sum(a));
  row('op', 'area', PHASES);
  console.log('-'.repeat(76));
  for (const [op, counts] of sorted.slice(0, OPS_SHOWN)) {
    row(
      op,
      counts.area,
      PHASES.map((phase) => number(counts[phase])),
    );
  }
  const others = new Map(sorted.slice(OPS_SHOWN));
  if (others.size > 0) {
    row(
      `${others.size} other ops`,
      '',
      PHASES.map((phase) => number(total(others, phase))),
    );
  }
  console.log('-'.repeat(76));
  row(
    'all',
    '',
    PHASES.map((phase) => number(total(ops, phase))),
  );
}

function showFirstLines(lines) {
  console.log(`\nThe first ${lines.length} lines, cut to the width of the screen:\n`);
  for (const line of lines) {
    console.log(line.length > width ? `${line.slice(0, width - 1)}…` : line);
  }
  console.log();
}

function total(ops, phase) {
  return [...ops.values()].reduce((sum, counts) => sum + counts[phase], 0);
}

function number(value) {
  return value.toLocaleString('en');
}
