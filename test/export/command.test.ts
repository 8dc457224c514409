/** `async-tracer export` as a person runs it. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { command, environment, MAIN, temporaryFolder } from '../cli/command';
import { HOLED, write } from './logs';

const folder = temporaryFolder();
const log = write(folder, 'app.ndjson', HOLED);
const at = (name: string) => path.join(folder, name);

function refused(args: string[], message: RegExp, status = 2): void {
  const outcome = command(['export', ...args]);
  assert.match(outcome.stderr, message);
  assert.deepEqual([outcome.status, outcome.stdout], [status, '']);
}

describe('async-tracer export', () => {
  it('writes the file and prints what was written', () => {
    const { status, stdout, stderr } = command(['export', '--to', 'chrome', log, '-o', at('a.json')]);
    assert.deepEqual([status, stderr], [0, '']);
    assert.equal(JSON.parse(readFileSync(at('a.json'), 'utf8')).traceEvents.length, 26);
    assert.match(stdout, /a\.json: [\d.]+ kB, 26 events in /);
    assert.match(
      stdout,
      /6 operations, 6 callbacks, 3 arrows\n2 callbacks left out, whose end is missing\n1 that had not ended ends with the log\n/,
    );
  });

  it('prints the same as JSON', () => {
    const { status, stdout } = command([
      'export',
      '--to=perfetto',
      '--json',
      log,
      '--output',
      at('a.pftrace'),
    ]);
    const {
      report,
      format,
      file,
      operations,
      callbacks,
      events,
      bytes,
      seconds,
      log: read,
    } = JSON.parse(stdout);
    assert.deepEqual([status, report, format, file], [0, 'export', 'perfetto', at('a.pftrace')]);
    assert.deepEqual([operations, callbacks, bytes], [6, 6, readFileSync(at('a.pftrace')).length]);
    assert.ok(events > 0 && seconds > 0 && read.records > 0);
  });

  it('writes to standard output, and nothing else there', () => {
    const { status, stdout } = command(['export', '--to', 'speedscope', log, '-o', '-']);
    assert.equal(status, 0);
    assert.equal(JSON.parse(stdout).exporter, 'async-tracer');
  });

  it('reads standard input', () => {
    const { stdout } = command(['export', '--to', 'chrome', '-', '-o', '-'], { input: readFileSync(log) });
    assert.equal(JSON.parse(stdout).traceEvents.length, 26);
  });

  it('compresses where the name ends in .gz, and a profile once', () => {
    command(['export', '--to', 'chrome', log, '-o', at('a.json.gz')]);
    assert.equal(JSON.parse(gunzipSync(readFileSync(at('a.json.gz'))).toString()).traceEvents.length, 26);
    command(['export', '--to', 'pprof', log, '-o', at('a.pb.gz')]);
    assert.ok(gunzipSync(readFileSync(at('a.pb.gz'))).includes('TCPSERVER'));
  });

  it('cuts the log by --from, --until, --root, --include and --exclude', () => {
    const opids = (...flags: string[]): number[] => {
      const { stdout, stderr } = command(['export', '--to', 'chrome', log, '-o', '-', ...flags]);
      assert.equal(stderr, '');
      const events: { ph: string; args: { opid: number } }[] = JSON.parse(stdout).traceEvents;
      return events
        .filter(({ ph }) => ph === 'b')
        .map(({ args }) => args.opid)
        .sort();
    };
    assert.deepEqual(opids('--from', '1ms'), [4, 5, 6, 7]);
    assert.deepEqual(opids('--until', '2025-11-30T07:00:00.008Z'), [2, 3, 4, 5]);
    assert.deepEqual(opids('--root', '4'), [4]);
    assert.deepEqual(opids('--include', 'timers,T*', '--exclude', 'Immediate'), [2, 4, 5]);
  });

  it('refuses an unknown format and names the nearest one', () => {
    refused(
      ['--to', 'crome', log, '-o', at('x')],
      /There is no format "crome"\. Is chrome meant\? The formats are chrome, perfetto, speedscope, pprof\./,
    );
    refused([log, '-o', at('x')], /A format is needed/);
  });

  it('refuses to do without an output, to overwrite the log, and to print two things at once', () => {
    refused(['--to', 'chrome', log], /An output is needed: -o FILE/);
    refused(['--to', 'chrome', log, '-o', log], /is .* itself: it would be overwritten/);
    refused(['--to', 'chrome', log, '-o', '-', '--json'], /both print to standard output/);
    refused(['--to', 'chrome', log, '-o', at('x'), '--from', 'soon'], /--from must be a duration/);
  });

  it('says that a folder is missing, and makes none', () => {
    refused(
      ['--to', 'chrome', log, '-o', at('none/x.json')],
      /none\/x\.json could not be written: there is no folder .*none \[ERR_ASYNC_TRACER_DESTINATION\]/,
      1,
    );
    assert.equal(existsSync(at('none')), false);
  });

  it('says that it is a folder', () => {
    mkdirSync(at('folder'), { recursive: true });
    refused(['--to', 'chrome', log, '-o', at('folder')], /could not be written: it is a folder/, 1);
  });

  it('says that no space is left', {
    skip: existsSync('/dev/full') ? false : 'there is no /dev/full',
  }, () => {
    refused(
      ['--to', 'chrome', log, '-o', '/dev/full'],
      /\/dev\/full could not be written: no space is left on the device/,
      1,
    );
  });

  it('leaves what was there, and no half file, where the log cannot be read or is none', () => {
    writeFileSync(at('kept.json'), 'before');
    const files = readdirSync(folder).length;
    writeFileSync(at('no.log'), 'no log\n');
    refused(['--to', 'chrome', at('no.log'), '-o', at('kept.json')], /is no log of async-tracer/, 1);
    refused(
      ['--to', 'chrome', at('absent.log'), '-o', at('kept.json')],
      /absent\.log could not be opened/,
      1,
    );
    refused(
      [
        '--to',
        'chrome',
        write(folder, 'future.ndjson', [...HOLED, '{"phase":"start","format":99}']),
        '-o',
        at('kept.json'),
      ],
      /has format 99/,
      1,
    );
    assert.equal(readFileSync(at('kept.json'), 'utf8'), 'before');
    assert.equal(readdirSync(folder).length, files + 2);
  });

  it('leaves no half file where it is interrupted', async () => {
    const child = spawn(process.execPath, [MAIN, 'export', '--to', 'chrome', '-', '-o', at('half.json')], {
      env: environment(),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.on('error', () => {});
    // It has begun to write when the file is there.
    child.stdin.write(`${HOLED.join('\n')}\n`.repeat(2000));
    const parts = () => readdirSync(folder).filter((file) => file.endsWith('.part'));
    while (parts().length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    child.kill('SIGTERM');
    const [, signal] = await once(child, 'exit');
    assert.equal(signal, 'SIGTERM');
    assert.deepEqual([parts(), existsSync(at('half.json'))], [[], false]);
  });

  it('replaces the file that a link stands for, and keeps the link', () => {
    writeFileSync(at('real.json'), 'before');
    symlinkSync(at('real.json'), at('link.json'));
    command(['export', '--to', 'chrome', log, '-o', at('link.json')]);
    assert.equal(JSON.parse(readFileSync(at('real.json'), 'utf8')).traceEvents.length, 26);
  });

  it('ends without an error where the reader of standard output has enough', () => {
    const big = write(folder, 'big.ndjson', Array.from({ length: 500 }, () => HOLED).flat());
    const { stderr, stdout } = spawnSync(
      'sh',
      ['-c', `"${process.execPath}" "${MAIN}" export --to chrome "${big}" -o - | head -c 10`],
      { encoding: 'utf8', env: environment() },
    );
    assert.deepEqual([stdout, stderr], ['{"displayT', '']);
  });
});
