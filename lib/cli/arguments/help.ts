/** How help looks. */

const INDENT = '  ';
/** Meanings of examples stand in a column where every example is shorter than this. */
const EXAMPLE_WIDEST = 42;

export type Example = readonly [words: string, meaning: string];

/** For the end of a command's help. Words that are too long for the column have their meaning on the next line. */
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

/** What yargs prints, without the types of flags, which say nothing that their descriptions do not. */
export function tidy(help: string): string {
  return help.replace(/ *\[(?:boolean|string|array)\]( \[default: \[\]\])?$/gm, '').trimEnd();
}
