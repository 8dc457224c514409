/**
 * The viewers themselves, in a headless browser: speedscope as its package has it, and the DevTools that Chromium serves
 * at its debugging port.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createReadStream,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import Ajv from 'ajv';
import { type Browser, chromium, type Page } from 'playwright-core';
import { temporaryFolder } from '../cli/command';
import { exported, realLogs } from './logs';

const SPEEDSCOPE = path.join(path.dirname(require.resolve('speedscope/package.json')), 'dist/release');
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);
const skip = CHROMIUM === undefined ? 'there is no Chromium' : false;
const MIME: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
};

const folder = temporaryFolder();
const profile = mkdtempSync(path.join(tmpdir(), 'async-tracer-chromium-'));
let speedscopeFile: Buffer;

before(async () => {
  const logs = realLogs(folder);
  speedscopeFile = (await exported(logs, 'speedscope')).bytes;
  writeFileSync(path.join(folder, 'trace.json'), (await exported(logs, 'chrome')).bytes);
});

it('a speedscope file is valid by the schema that speedscope ships', () => {
  const schema = JSON.parse(readFileSync(path.join(SPEEDSCOPE, 'file-format-schema.json'), 'utf8'));
  const validate = new Ajv({ strict: false }).compile(schema);
  assert.ok(validate(JSON.parse(speedscopeFile.toString())), JSON.stringify(validate.errors?.slice(0, 3)));
});

describe('in a headless browser', { skip }, () => {
  let child: ChildProcess;
  let browser: Browser;
  let devtools = '';
  let server: Server;
  let base = '';

  before(async () => {
    // Playwright's launch has no debugging port, and DevTools come from there.
    child = spawn(
      CHROMIUM!,
      [
        '--headless=new',
        '--no-sandbox',
        '--disable-gpu',
        '--enable-unsafe-swiftshader',
        '--remote-debugging-port=0',
        '--remote-allow-origins=*',
        `--user-data-dir=${profile}`,
        'about:blank',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let text = '';
    for await (const chunk of child.stderr!) {
      text += chunk;
      const [, endpoint, port] = /DevTools listening on (ws:\/\/127\.0\.0\.1:(\d+)\S+)\s/.exec(text) ?? [];
      if (endpoint !== undefined) {
        devtools = `http://127.0.0.1:${port}/devtools/devtools_app.html?panel=timeline`;
        browser = await chromium.connectOverCDP(endpoint);
        break;
      }
    }
    assert.ok(browser !== undefined, text);
    server = createServer((request, response) => {
      const name = request.url!.split('?')[0];
      if (name === '/log.json') {
        response.end(speedscopeFile);
        return;
      }
      const file = path.join(SPEEDSCOPE, name === '/' ? 'index.html' : name);
      if (!existsSync(file) || !statSync(file).isFile()) {
        response.writeHead(404).end();
        return;
      }
      response.setHeader('content-type', MIME[path.extname(file)] ?? 'application/octet-stream');
      createReadStream(file).pipe(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(async () => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit');
      const session = await browser.newBrowserCDPSession();
      await session.send('Browser.close').catch(() => child.kill('SIGKILL'));
      await exit;
    }
    // Its helper processes may write for a moment longer.
    rmSync(profile, { recursive: true, force: true, maxRetries: 20 });
    server?.closeAllConnections();
    server?.close();
  });

  async function opened(): Promise<{ page: Page; errors: string[] }> {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    // A page behind another one draws nothing.
    await page.bringToFront();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    return { page, errors };
  }

  it('speedscope shows the threads, and the waits by op', { timeout: 60_000 }, async () => {
    const { page, errors } = await opened();
    await page.goto(`${base}/#profileURL=${encodeURIComponent(`${base}/log.json`)}`);
    const { profiles } = JSON.parse(speedscopeFile.toString()) as { profiles: { name: string }[] };
    assert.equal(profiles.length, 3);
    await page.waitForFunction(`document.title.startsWith(${JSON.stringify(profiles[0].name)})`, undefined, {
      polling: 50,
    });
    // The table of all frames. Keys are heard some time after the title is there.
    const table = page.getByText('Symbol Name');
    for (let shown = false; !shown; ) {
      await page.keyboard.press('3');
      shown = await table.waitFor({ timeout: 500 }).then(
        () => true,
        () => false,
      );
    }
    for (const { name } of profiles.slice(1)) {
      await page.keyboard.press('n');
      await page.getByText(name).first().waitFor();
    }
    await page.getByText('FSREQPROMISE', { exact: true }).first().waitFor();
    await page.getByText('Timeout', { exact: true }).first().waitFor();
    assert.deepEqual(errors, []);
    await page.close();
  });

  it('the Performance panel of DevTools loads the Trace Event JSON', async () => {
    const { page, errors } = await opened();
    await page.goto(devtools);
    await page.getByRole('tab', { name: 'Performance' }).click();
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles(path.join(folder, 'trace.json'), { timeout: 30_000 });
    await page.getByRole('tab', { name: 'Bottom-up' }).waitFor();
    await page.getByRole('tab', { name: 'Event log' }).waitFor();
    assert.deepEqual(errors, []);
    await page.close();
  });
});
