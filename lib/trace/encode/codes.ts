/**
 * Numbers that hook and encoder share. They are constant enums because these compile to plain numbers: what a module
 * imports is a property that each use loads anew (benchmark: `ticks`, 3% of a record).
 */

/** The phases of operation records, in the order of `counts` and of a row of templates. */
// biome-ignore lint/suspicious/noConstEnum: see above
export const enum PhaseIndex {
  init,
  before,
  after,
  destroy,
  resolve,
}

/** What the operation table keeps of an operation. Each registered op has a code from `firstOp` up. */
// biome-ignore lint/suspicious/noConstEnum: see above
export const enum Code {
  /** Its init was not seen, or it was destroyed. */
  unknown,
  /** An own operation of the tracer: never recorded. */
  own,
  /** Its op has no templates, because there are too many ops or its name is too long. It is encoded from its text. */
  unregistered,
  firstOp,
  /** A promise or something that has ended: the id alone cannot decide. Higher than the code of any op. */
  uncertain = 0xffff,
}
