/** The bar that shows how far a long reading is. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { describeProgress, startProgress } from '../../lib/cli/terminal/progress';

describe('progress', () => {
  const REDRAW_MS = 100;

  /** A terminal that keeps what is drawn, and a clock that stands where it is put. */
  function terminal(context: TestContext) {
    let nowMs = 1000;
    context.mock.method(performance, 'now', () => nowMs);
    // The bar draws by a timer of its own.
    context.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    const output = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 80 });
    context.after(() => output.destroy());
    return {
      output: output as unknown as NodeJS.WriteStream,
      at(ms: number) {
        nowMs = 1000 + ms;
      },
      redraw: () => context.mock.timers.tick(REDRAW_MS),
      /** Without the escape sequences that move the cursor. */
      drawn: () =>
        // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they are made of
        ((output.read() as string | null) ?? '').replace(/\x1b\[[0-9;?]*[A-Za-z]/g, ''),
    };
  }

  it('is none where standard error is no terminal', () => {
    const output = new PassThrough();
    const progress = startProgress(output as unknown as NodeJS.WriteStream);
    assert.equal(progress.onProgress, undefined);
    progress.stop();
    assert.equal(output.read(), null);
    output.destroy();
  });

  it('draws nothing in the first half second, and stops without having begun', (context) => {
    const { output, at, drawn } = terminal(context);
    const { onProgress, stop } = startProgress(output);
    context.after(stop);
    at(499);
    onProgress?.({ bytes: 10, totalBytes: 100, records: 1 });
    stop();
    assert.equal(drawn(), '');
  });

  it('draws how far it is, the rate and the time left, at most ten times a second', (context) => {
    const { output, at, redraw, drawn } = terminal(context);
    const { onProgress, stop } = startProgress(output);
    context.after(stop);
    at(500);
    onProgress?.({ bytes: 250_000, totalBytes: 1_000_000, records: 1000 });
    const quarter = '█████░░░░░░░░░░░░░';
    const first = drawn();
    assert.ok(first.endsWith(`reading ${quarter} 25 % of 1 MB  2,000 records/s  2 s left`), first);
    assert.equal(first.match(/reading/g)?.length, 1);
    redraw();
    drawn();
    at(599);
    onProgress?.({ bytes: 300_000, totalBytes: 1_000_000, records: 1200 });
    redraw();
    assert.equal(drawn(), '');
    at(1000);
    onProgress?.({ bytes: 500_000, totalBytes: 1_000_000, records: 2000 });
    redraw();
    const half = '█████████░░░░░░░░░';
    const next = drawn();
    assert.ok(next.endsWith(`reading ${half} 50 % of 1 MB  2,000 records/s  1 s left`), next);
  });

  it('fits a terminal of 80 columns, whatever its figures, and is no wider than 24 columns itself', (context) => {
    const { output, at, drawn } = terminal(context);
    const longest = { bytes: 1_000_000_000, totalBytes: 99_900_000_000, records: 700_000_000 };
    at(71_500);
    for (const [columns, bar] of [
      [80, 18],
      [160, 24],
      [60, 8],
    ]) {
      output.columns = columns;
      const { onProgress, stop } = startProgress(output);
      at(143_000);
      onProgress?.(longest);
      const line = drawn();
      stop();
      drawn();
      at(71_500);
      assert.equal(line.match(/[█░]/g)?.length, bar);
      if (columns >= 80) assert.match(line, /1 % of 99\.9 GB {2}9,790,210 records\/s {2}118 min left$/);
    }
  });

  it('draws what it has read where nobody knows how much there is', (context) => {
    const { output, at, redraw, drawn } = terminal(context);
    const { onProgress, stop } = startProgress(output);
    context.after(stop);
    at(2000);
    onProgress?.({ bytes: 2048, totalBytes: undefined, records: 500 });
    redraw();
    const text = drawn();
    assert.ok(text.endsWith('reading 2.05 kB  500 records  250 records/s'), text);
  });

  it('knows no time left of a file that has grown while it was read', () => {
    assert.equal(
      describeProgress({ bytes: 1200, totalBytes: 1000, records: 6 }, 1000),
      '120 % of 1 kB  6 records/s  0 left',
    );
  });

  it('knows no time left before the first byte', () => {
    assert.equal(
      describeProgress({ bytes: 0, totalBytes: 1000, records: 0 }, 1000),
      '0 B  0 records  0 records/s',
    );
  });
});
