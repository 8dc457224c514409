import { pathOf } from './path';

/** A place in source text. */
export interface Frame {
  /** As the engine gives it; empty or '<anonymous>' where the function has no name. */
  function: string;
  /** A path, a file: URL, or a name of a module of Node's such as node:net. */
  file: string;
  line: number;
  column: number;
}

/**
 * Parses "functionName:fileName:lineNum:colNum". The name ends at the first colon: a colon inside it is written %3A, and
 * a percent sign that could be mistaken for one %25. The numbers are last. The file is what is between them, with its
 * colons (file:///app.mjs, C:\app.js). Undefined for any other text.
 */
export function parseFrame(text: string): Frame | undefined {
  const first = text.indexOf(':');
  const last = text.lastIndexOf(':');
  const middle = text.lastIndexOf(':', last - 1);
  if (first < 0 || middle <= first) {
    return undefined;
  }
  const line = text.slice(middle + 1, last);
  const column = text.slice(last + 1);
  if (!/^\d+$/.test(line) || !/^\d+$/.test(column)) {
    return undefined;
  }
  return {
    function: text.slice(0, first).replace(/%(3A|25)/g, (code) => (code === '%3A' ? ':' : '%')),
    file: text.slice(first + 1, middle),
    line: Number(line),
    column: Number(column),
  };
}

/** The text of a frame with the path of its file, see `pathOf`; any other text as it is. */
export function withPath(text: string): string {
  const first = text.indexOf(':') + 1;
  if (!text.startsWith('file:', first) || parseFrame(text) === undefined) {
    return text;
  }
  const middle = text.lastIndexOf(':', text.lastIndexOf(':') - 1);
  return text.slice(0, first) + pathOf(text.slice(first, middle)) + text.slice(middle);
}

/** A frame as text for people: `name (file:line:column)`. */
export function frameText(frame: Frame): string {
  const place = `${frame.file}:${frame.line}:${frame.column}`;
  return frame.function === '' ? place : `${frame.function} (${place})`;
}
