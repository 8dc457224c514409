import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReportData } from './data';

/**
 * The page as one file. It holds its script, its styles and its data, and its policy lets it load nothing else: a name in
 * the log can become neither code nor a request.
 */
export function renderPage(data: ReportData): string {
  const script = readAsset('page-script.txt');
  const styles = readAsset('page.css');
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(styles)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeText(`${data.sources.join(', ')} - async-tracer`)}</title>
<style>${styles}</style>
</head>
<body>
<noscript>This page draws its figures with JavaScript, which is switched off.</noscript>
<main id="report"></main>
<script type="application/json" id="data">${escapeJson(JSON.stringify(data))}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** Files that the build puts beside this one. */
function readAsset(name: string): string {
  return readFileSync(join(__dirname, name), 'utf8');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** JSON that cannot end the element around it. JSON.stringify has escaped control characters and half surrogates. */
export function escapeJson(json: string): string {
  return json.replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function escapeText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
