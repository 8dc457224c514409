/** A frame as text: "functionName:fileName:lineNum:colNum". */
import { uncurryThis } from '../runtime/intrinsics';

/** Characters kept of a function's name and of a file's (a `data:` URL can be megabytes long). */
export const FUNCTION_NAME_MAX = 512;
export const FILE_NAME_MAX = 4_096;

/** Stands for a name that does not exist; V8 prints the same word. */
export const ANONYMOUS = '<anonymous>';

const slice = uncurryThis(String.prototype.slice as (this: string, start: number, end?: number) => string);
const includes = uncurryThis(String.prototype.includes as (this: string, part: string) => boolean);
const replace = uncurryThis(
  String.prototype.replaceAll as (this: string, part: string, by: string) => string,
);

/** The place of a frame, in the terms of the log. */
export interface Location {
  functionName: string;
  fileName: string;
  /** 0 where V8 has none: built-in functions. */
  lineNumber: number;
  columnNumber: number;
}

/**
 * "functionName:fileName:lineNum:colNum". A colon in the function's name becomes %3A, and a percent sign
 * becomes %25 only before "3A" or "25", where it would be ambiguous: `replace(/%(3A|25)/g, ...)` undoes both.
 */
export function frameText(location: Location): string {
  let name = location.functionName;
  if (name.length > FUNCTION_NAME_MAX) {
    name = `${slice(name, 0, FUNCTION_NAME_MAX)}...`;
  }
  if (includes(name, '%')) {
    name = replace(replace(name, '%25', '%2525'), '%3A', '%253A');
  }
  if (includes(name, ':')) {
    name = replace(name, ':', '%3A');
  }
  let file = location.fileName;
  if (file.length > FILE_NAME_MAX) {
    file = `${slice(file, 0, FILE_NAME_MAX)}...`;
  }
  return `${name}:${file}:${location.lineNumber}:${location.columnNumber}`;
}
