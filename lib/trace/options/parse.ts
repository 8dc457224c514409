/** Values as they are written in a variable or a flag. What cannot be read stays text, for the check to refuse. */
import { firstLine, Refusal } from './value';

export function parseFlag(text: string): unknown {
  return /^(1|true|yes|on)$/i.test(text) ? true : /^(0|false|no|off)$/i.test(text) ? false : text;
}

export function parseNumber(text: string): unknown {
  return /^\s*$/.test(text) ? text : Number.isNaN(Number(text)) ? text : Number(text);
}

/** 1 is a number here, not a yes; 0 is none of them. */
export function parseFlagOrNumber(text: string): unknown {
  const number = parseNumber(text);
  return typeof number === 'number' && number !== 0 ? number : parseFlag(text);
}

/** As chmod(1) reads it. */
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

/** A list parted by commas; /.../ is a regular expression and may hold commas. */
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
