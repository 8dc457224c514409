/** The text of help. */

const INDENT = '  ';
/** Examples up to this length have their meanings in one column. */
const EXAMPLE_WIDEST = 42;

export type Example = readonly [words: string, meaning: string];

/** The examples at the end of a command's help. The meaning of a longer one is on the next line. */
export function examples(list: readonly Example[]): string {
  const width = Math.max(
    ...list.map(([words]) => words.length).filter((length) => length <= EXAMPLE_WIDEST),
    0,
  );
  const lines = list.map(([words, meaning]) =>
    words.length > width
      ? `${INDENT}${words}\n${INDENT.repeat(2)}${meaning}`
      : `${INDENT}${words.padEnd(width)}  ${meaning}`,
  );
  return `Examples:\n${lines.join('\n')}`;
}

/** The help of yargs without the types of flags: the descriptions say as much. */
export function withoutTypes(help: string): string {
  return help.replace(/ *\[(?:boolean|string|array)\]( \[default: \[\]\])?$/gm, '').trimEnd();
}
