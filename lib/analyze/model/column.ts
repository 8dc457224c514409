type Column = Float64Array | Float32Array | Int32Array | Uint32Array | Uint8Array;

/** A column with room for `length` values: the same one, or a larger copy whose new values are 0. */
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
