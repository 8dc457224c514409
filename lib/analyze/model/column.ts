type Column = Float64Array | Float32Array | Int32Array | Uint32Array | Uint8Array;

/** A column with room for `length` values: itself, or a larger copy. New places hold 0. */
export function roomFor<T extends Column>(column: T, length: number): T {
  if (length <= column.length) {
    return column;
  }
  const larger = new (column.constructor as new (length: number) => T)(
    Math.max(length, column.length * 2, 8),
  );
  larger.set(column);
  return larger;
}
