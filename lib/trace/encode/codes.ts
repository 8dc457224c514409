/**
 * Numbers that hook, ops and encoder share. Constant enums, since they are compiled to plain numbers: what a module
 * imports is a property of an object that each use loads anew (benchmark: `ticks`, 3% of a record).
 */

/** The phases of operation records, as `counts` and the rows of templates are indexed. */
// biome-ignore lint/suspicious/noConstEnum: see above
export const enum PhaseIndex {
  init,
  before,
  after,
  destroy,
  resolve,
}

/** What the op table keeps of an operation. Every op that has been met has a code from `firstOp` up. */
// biome-ignore lint/suspicious/noConstEnum: see above
export const enum Code {
  /** Its init was not seen, or it was destroyed. */
  unknown,
  /** The tracer's own: never recorded. */
  own,
  /** Its op has no templates (there are too many ops, or it is too long), and is encoded from its text. */
  rare,
  firstOp,
  /** A promise, or something that has ended: its id alone does not tell. Higher than the code of any op. */
  doubtful = 0xffff,
}
