/** The page as a text: one file, and nothing in a log can leave its data. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { makeReport } from '../../lib/report';
import { escapeJson } from '../../lib/report/html';
import { init, run } from '../analyze/lines';
import { HOSTILE_NAMES } from './hostile';

async function* stream(text: string): AsyncGenerator<string> {
  yield text;
}

const lines = HOSTILE_NAMES.flatMap((name, i) => [
  init(10 + i, name, i, { area: 'custom', stack: [`${name}:/srv/${name}.js:1:2`] }),
  run(10 + i, name, i + 0.1, i + 0.2),
]);

async function page(): Promise<{ html: string; data: unknown }> {
  return makeReport(stream(lines.join('\n')), { names: HOSTILE_NAMES, folder: '/srv' });
}

const DATA = /<script type="application\/json" id="data">(.*?)<\/script>/s;

describe('the page of a hostile log', () => {
  it('has the elements of any page and no other', async () => {
    const { html } = await page();
    assert.deepEqual(
      [...html.matchAll(/<(?!!)\/?([a-z][a-z0-9]*)/gi)].map(([tag]) => tag),
      [
        ...[
          '<html',
          '<head',
          '<meta',
          '<meta',
          '<meta',
          '<meta',
          '<meta',
          '<title',
          '</title',
          '<style',
          '</style',
        ],
        ...[
          '</head',
          '<body',
          '<noscript',
          '</noscript',
          '<main',
          '</main',
          '<script',
          '</script',
          '<script',
        ],
        ...['</script', '</body', '</html'],
      ],
    );
  });

  it('holds its data whole', async () => {
    const { html, data } = await page();
    const text = DATA.exec(html)![1];
    assert.doesNotMatch(text, /[<\u2028\u2029\p{Cc}\p{Cs}]/u);
    assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(data)));
    const parsed = JSON.parse(text) as { groups: [string][] };
    assert.deepEqual(new Set(parsed.groups.map(([op]) => op)), new Set(HOSTILE_NAMES));
  });

  it('allows its script and its styles by their hashes, and nothing else', async () => {
    const { html } = await page();
    const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const [, styles] = /<style>(.*?)<\/style>/s.exec(html)!;
    const [, script] = /<script>(.*?)<\/script>/s.exec(html)!;
    const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(html)!;
    assert.equal(
      policy,
      `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(styles)}; base-uri 'none'; form-action 'none'`,
    );
    assert.doesNotMatch(script + styles, /https?:\/\/(?!www\.w3\.org\/2000\/svg)|@import|url\(/);
    assert.doesNotMatch(script, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b/);
  });

  it('is the same text in UTF-8', async () => {
    const { html } = await page();
    assert.ok(Buffer.from(html).toString() === html);
  });
});

describe('JSON in the page', () => {
  it('reads as before and cannot end its element', () => {
    const text = JSON.stringify(HOSTILE_NAMES);
    assert.deepEqual(JSON.parse(escapeJson(text)), HOSTILE_NAMES);
    assert.doesNotMatch(escapeJson(text), /</);
  });
});
