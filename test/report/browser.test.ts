/** A person at the page, in Chromium: what is read there equals `stats --json`, and everything that can be moved moves. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { analyzeStats, type StatsReport } from '../../lib/analyze';
import { makeReport } from '../../lib/report';
import { event, init, run } from '../analyze/lines';
import { HOSTILE_NAMES } from './hostile';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const skip = !existsSync(CHROMIUM) && `there is no browser at ${CHROMIUM}`;
const LOG = path.join(__dirname, '../../../test/fixtures/cli/app.ndjson');
const folder = mkdtempSync(path.join(tmpdir(), 'async-tracer-browser-'));

const textOf = async (locator: Locator): Promise<string> => (await locator.textContent()) ?? '';
const count = (value: number | null): string => (value === null ? '–' : value.toLocaleString('en-US'));

describe('the page in a browser', { skip, timeout: 120_000 }, () => {
  let browser: Browser;
  let page: Page;
  let stats: StatsReport;
  /** Messages of the console, errors of the script, and requests: all that a quiet page has not. */
  let noise: string[];

  async function open(name: string, html: string): Promise<void> {
    const file = path.join(folder, name);
    writeFileSync(file, html);
    const url = pathToFileURL(file).href;
    noise = [];
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(10_000);
    page.on('console', (message) => noise.push(`console: ${message.text()}`));
    page.on('pageerror', (error) => noise.push(`error: ${error.message}`));
    page.on('dialog', (dialog) => noise.push(`dialog: ${dialog.message()}`));
    page.on('request', (request) => {
      if (request.url() !== url) {
        noise.push(`request: ${request.url()}`);
      }
    });
    await page.goto(url);
    await page.waitForSelector('#leaks');
  }

  async function openLog(): Promise<void> {
    const { html } = await makeReport(LOG, { names: ['app.ndjson'], folder: '/app' });
    await open('app.html', html);
  }

  /** The cells of a table, by row. */
  const cells = (section: string): Promise<string[][]> =>
    page
      .locator(`#${section} tbody tr`)
      .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? '')));

  before(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    stats = await analyzeStats(LOG);
  });

  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  it('shows the figures of stats', async () => {
    await openLog();
    const { log, loop } = stats;
    assert.match(await textOf(page.locator('#log')), new RegExp(`^${count(log.records)} records `));
    assert.equal(
      await textOf(page.locator('#losses')),
      `${log.lost} lost, ${log.foreign + log.cut} unreadable, ${log.withoutInit} without init`,
    );
    assert.deepEqual(await page.locator('.tile dd:nth-of-type(1)').allTextContents(), [
      `${Math.round(loop.share * 100)} %`,
      `${Number(loop.longest!.duration.toPrecision(3))} ms`,
      count(loop.held),
    ]);
    const areas = await cells('areas');
    assert.deepEqual(
      areas.map(([area, inits, live, runs]) => [area, inits, live, runs]),
      stats.areas.map((row) => [row.area ?? '?', count(row.count), count(row.live), count(row.run.count)]),
    );
    const shown = await cells('operations');
    assert.deepEqual(
      shown.map((row) => [row[0], row[2], row[3], row[7]]),
      stats.ops.map((row) => [row.op ?? '?', count(row.count), count(row.live), count(row.run.count)]),
    );
    assert.deepEqual(noise, []);
  });

  it('sorts a table by a head, one way and the other', async () => {
    await openLog();
    const head = page.locator('#operations th', { hasText: 'count' });
    await head.locator('button').click();
    assert.equal(await head.getAttribute('aria-sort'), 'descending');
    const counts = stats.ops.map((row) => row.count).sort((a, b) => b - a);
    const column = async () => (await cells('operations')).map((row) => Number(row[2].replaceAll(',', '')));
    assert.deepEqual(await column(), counts.slice(0, 25));
    await head.locator('button').press('Enter');
    assert.equal(await head.getAttribute('aria-sort'), 'ascending');
    assert.deepEqual(await column(), counts.toReversed().slice(0, 25));
    assert.deepEqual(noise, []);
  });

  it('finds rows by words, in the op and in the call site', async () => {
    await openLog();
    await page.getByLabel('Search in operations').fill('timeout app.js');
    const hit = (text: string) => /timeout/i.test(text) && text.includes('app.js');
    const expected = stats.ops.filter(({ op, site }) => hit(`${op} ${site?.function} ${site?.file}`));
    const found = await cells('operations');
    assert.ok(expected.length > 1 && expected.length < stats.ops.length);
    assert.deepEqual(
      [found.length, found.filter((row) => hit(row.join(' '))).length],
      [expected.length, expected.length],
    );
    assert.equal(
      await textOf(page.locator('#operations .status')),
      `${expected.length} of ${stats.ops.length} rows`,
    );
    await page.getByLabel('Search in operations').fill('nothing of this name');
    assert.deepEqual(await cells('operations'), []);
    assert.deepEqual(noise, []);
  });

  it('opens and closes the tree, by the mouse and by keys', async () => {
    await openLog();
    const item = page.locator('#tree [role=treeitem][aria-expanded]').first();
    const visible = () => page.locator('#tree [role=treeitem]:visible').count();
    const isOpen = await item.getAttribute('aria-expanded');
    const opened = await visible();
    await item.locator('> .tree-row').click();
    assert.notEqual(await item.getAttribute('aria-expanded'), isOpen);
    assert.notEqual(await visible(), opened);
    await page.keyboard.press(isOpen === 'true' ? 'ArrowRight' : 'ArrowLeft');
    assert.equal(await item.getAttribute('aria-expanded'), isOpen);
    assert.equal(await visible(), opened);
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    const second = page.locator('#tree [role=treeitem]:visible').nth(1);
    assert.ok(await second.evaluate((element) => element.matches(':focus')));
    assert.deepEqual(noise, []);
  });

  it('zooms by drag, wheel, keys and buttons, and shows all again', async () => {
    await openLog();
    const visible = page.locator('#visible');
    const whole = await textOf(visible);
    assert.match(whole, /^0 to 181 ms: held 42 % \(75\.1 ms\), busy 21 % \(38\.7 ms\), idle 37 %/);
    const plot = page.locator('#event-loop .plot').first();
    const box = (await plot.boundingBox())!;
    const x = (part: number) => box.x + 52 + (box.width - 52) * part;
    const y = box.y + 60;
    await page.mouse.move(x(0.5), y);
    await page.mouse.down();
    await page.mouse.move(x(0.75), y, { steps: 4 });
    await page.mouse.up();
    const dragged = await textOf(visible);
    const [, from, to] = /^([\d.]+) ms to ([\d.]+) ms/.exec(dragged)!;
    assert.ok(Math.abs(Number(from) - 90.4) < 1 && Math.abs(Number(to) - 135.6) < 1, dragged);
    await page.mouse.dblclick(x(0.5), y);
    assert.equal(await textOf(visible), whole);
    await page.locator('#event-loop .chart').first().focus();
    await page.mouse.move(x(0.5), y);
    await page.mouse.wheel(0, -100);
    await page.waitForFunction(`document.getElementById('visible').textContent !== ${JSON.stringify(whole)}`);
    await page.keyboard.press('0');
    assert.equal(await textOf(visible), whole);
    for (const key of ['+', 'ArrowRight']) {
      const text = await textOf(visible);
      await page.keyboard.press(key);
      assert.notEqual(await textOf(visible), text);
    }
    await page.getByRole('button', { name: 'Show all' }).click();
    assert.equal(await textOf(visible), whole);
    assert.deepEqual(noise, []);
  });

  it('opens the waterfall of a request', async () => {
    const lines = [
      init(5, 'FSREQCALLBACK', 0),
      event('before', 5, 'FSREQCALLBACK', 30),
      init(6, 'TickObject', 35, { parentopid: 5 }),
      event('after', 5, 'FSREQCALLBACK', 40),
      run(6, 'TickObject', 40, 50),
    ];
    const log = path.join(folder, 'request.ndjson');
    writeFileSync(log, `${lines.join('\n')}\n`);
    await open('request.html', (await makeReport(log, { names: ['request'], folder })).html);
    await page.locator('#requests summary').first().click();
    const body = page.locator('#requests .request-body').first();
    // A browser reports that it has opened a little later.
    await body.locator('.part').first().waitFor();
    assert.match(await textOf(body), /run 20 ms \(40 %\), queued 0 \(0\.0 %\), wait 30 ms \(60 %\)/);
    assert.deepEqual(await body.locator('.part-run').allTextContents(), [
      'waited 30 ms, ran 10 ms',
      'waited 5 ms, ran 10 ms',
    ]);
    assert.deepEqual(noise, []);
  });

  it('shows hostile names as text, in every section, and nothing of them runs', async () => {
    const lines = HOSTILE_NAMES.flatMap((name, i) => [
      init(10 + i, name, i, { area: name, stack: [`${name}:/srv/${name}.js:1:2`] }),
      event('before', 10 + i, name, i + 100, { area: name }),
      init(50 + i, 'TCPSERVER', i + 101, { parentopid: 10 + i, stack: [`${name}:/srv/app.js:1:2`] }),
      event('after', 10 + i, name, i + 100 + 60, { area: name }),
    ]);
    const log = path.join(folder, 'hostile.ndjson');
    writeFileSync(log, `${lines.join('\n')}\n`);
    await open('hostile.html', (await makeReport(log, { names: HOSTILE_NAMES, folder })).html);
    for (const summary of await page.locator('#requests summary, #leaks summary').all()) {
      await summary.click();
    }
    await page.getByLabel('Search in operations').fill('<script>');
    const text = (await cells('operations')).map(([op]) => op);
    assert.ok(text.includes('</script><script>alert(1)</script>'), JSON.stringify(text));
    // As a text: the functions of a page do not know the types of the tests.
    assert.deepEqual(
      await page.evaluate(`[
        document.querySelectorAll('script').length,
        document.querySelectorAll('img, iframe, object, embed, link, main script, main style').length,
        [...document.querySelectorAll('main *')].filter((element) =>
          element.getAttributeNames().some((name) => name.startsWith('on'))).length,
        /[\\p{Cc}\\u202e]/u.test(document.querySelector('main').textContent),
      ]`),
      [2, 0, 0, false],
    );
    assert.deepEqual(noise, []);
  });

  it('fits a window of 1,024 points, and paper', async () => {
    await openLog();
    await page.setViewportSize({ width: 1024, height: 768 });
    const overflow = () =>
      page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    assert.equal(await overflow(), 0);
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.getByRole('navigation').isVisible(), false);
    assert.deepEqual(noise, []);
  });
});
