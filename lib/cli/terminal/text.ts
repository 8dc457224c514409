/** Text measured and cut by the columns of a terminal. */
import { stripVTControlCharacters } from 'node:util';

const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/u;
const NO_WIDTH = /[\p{M}\u200b-\u200d]/u;
const ELLIPSIS = '…';

/** Removes control characters: the name of an op in a log could clear the screen or reverse the text. */
export function clean(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

function columnsOf(character: string): number {
  return WIDE.test(character) ? 2 : NO_WIDTH.test(character) ? 0 : 1;
}

export function widthOf(text: string): number {
  const plain = stripVTControlCharacters(text);
  if (/^[\x20-\x7e]*$/.test(plain)) {
    return plain.length;
  }
  let width = 0;
  for (const character of plain) {
    width += columnsOf(character);
  }
  return width;
}

/** The end of a text that does not fit, behind an ellipsis. The text has no colours. */
export function endOf(text: string, width: number): string {
  if (widthOf(text) <= width) {
    return text;
  }
  const characters = [...text];
  let used = 1;
  let from = characters.length;
  while (from > 0 && used + columnsOf(characters[from - 1]) <= width) {
    used += columnsOf(characters[--from]);
  }
  return ELLIPSIS + characters.slice(from).join('');
}

/** The beginning of a text that does not fit, before an ellipsis. */
export function beginningOf(text: string, width: number): string {
  if (widthOf(text) <= width) {
    return text;
  }
  let used = 1;
  let kept = '';
  for (const character of text) {
    used += columnsOf(character);
    if (used > width) {
      break;
    }
    kept += character;
  }
  return kept + ELLIPSIS;
}

/**
 * Lines of at most `width` columns, broken at spaces, all but the first one indented. A longer word gets a whole line.
 */
export function wrap(text: string, width: number, indent: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const next = line === '' ? word : `${line} ${word}`;
    const indented = lines.length === 0 ? 0 : widthOf(indent);
    if (line !== '' && indented + widthOf(next) > width) {
      lines.push(line);
      line = word;
    } else {
      line = next;
    }
  }
  lines.push(line);
  return lines.map((text, i) => (i === 0 ? text : indent + text)).join('\n');
}
