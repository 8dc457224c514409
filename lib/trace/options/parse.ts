/** Reads values from the text of a variable or a flag. Text that cannot be read is returned, and the check refuses it. */
import { firstLine, Refusal } from './value';

export function parseFlag(text: string): unknown {
  return /^(1|true|yes|on)$/i.test(text) ? true : /^(0|false|no|off)$/i.test(text) ? false : text;
}

export function parseNumber(text: string): unknown {
  return /^\s*$/.test(text) ? text : Number.isNaN(Number(text)) ? text : Number(text);
}

/** 1 is a number here, not true; 0 is false. */
export function parseFlagOrNumber(text: string): unknown {
  const number = parseNumber(text);
  return typeof number === 'number' && number !== 0 ? number : parseFlag(text);
}

/** Octal digits, as in chmod(1). */
export function parseOctal(text: string): unknown {
  const digits = /^(?:0o)?([0-7]+)$/i.exec(text);
  return digits === null ? text : Number.parseInt(digits[1], 8);
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function parseFlagOrJson(text: string): unknown {
  const value = parseFlag(text);
  return typeof value === 'boolean' ? value : parseJson(text);
}

/** A list separated by commas; /.../ is a regular expression and may contain commas. */
export function parseMatchers(text: string): unknown {
  const parts = text.match(/\/(?:\\.|[^/\\])+\/[a-z]*|[^,]+/g) ?? [];
  return parts.map((part) => {
    const pattern = /^\/(.+)\/([a-z]*)$/s.exec(part);
    if (pattern === null) {
      return part.trim();
    }
    try {
      return new RegExp(pattern[1], pattern[2]);
    } catch (error) {
      throw new Refusal(firstLine(error));
    }
  });
}
