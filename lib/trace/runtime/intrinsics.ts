/**
 * Built-in functions, taken when the package loads. A hook never runs what the program replaces or pollutes later: a
 * mocked Map, a patched RegExp.prototype.exec, a toJSON on Object.prototype.
 */

// biome-ignore lint/suspicious/noExplicitAny: any built-in function is possible here
type Method = (this: any, ...args: any[]) => any;

const { bind, call } = Function.prototype;

/** `method.call` as a plain function without a look-up: uncurryThis(String.prototype.slice)('abc', 1). */
export function uncurryThis<M extends Method>(
  method: M,
): (self: ThisParameterType<M>, ...args: Parameters<M>) => ReturnType<M> {
  return bind.call(call, method) as (self: ThisParameterType<M>, ...args: Parameters<M>) => ReturnType<M>;
}

/** The function behind an accessor of a prototype, as uncurryThis does for methods. */
export function uncurryGetter<R>(prototype: object, key: PropertyKey): (self: unknown) => R {
  return uncurryThis(Object.getOwnPropertyDescriptor(prototype, key)!.get!) as (self: unknown) => R;
}

/** Copies a typed array into another one, starting at `offset`. */
export const copyInto: (target: TypedArray, source: TypedArray, offset?: number) => void = uncurryThis(
  Uint8Array.prototype.set,
);

const encoder = new TextEncoder();
const encode = uncurryThis(TextEncoder.prototype.encode);

/** The bytes of a text in UTF-8. Buffer.from will not do: it calls methods of Buffer.prototype. */
export function utf8(text: string): Uint8Array {
  return encode(encoder, text);
}

type TypedArray = Uint8Array | Int32Array | Float64Array;

/** Copies the methods of `Base` to a subclass, where no later patch of Base.prototype reaches them. */
function detach(Detached: { prototype: object }, Base: { prototype: object }): void {
  for (const key of Reflect.ownKeys(Base.prototype)) {
    if (key === 'constructor') {
      continue;
    }
    Object.defineProperty(Detached.prototype, key, Object.getOwnPropertyDescriptor(Base.prototype, key)!);
  }
}

/** A Map whose methods no later patch of Map.prototype reaches. */
export class OwnMap<K, V> extends Map<K, V> {
  // biome-ignore lint/complexity/noUselessConstructor: the implicit one spreads its arguments by Array's iterator
  constructor() {
    super();
  }
}
detach(OwnMap, Map);

/** A WeakMap whose methods no later patch of WeakMap.prototype reaches. */
export class OwnWeakMap<K extends object, V> extends WeakMap<K, V> {
  // biome-ignore lint/complexity/noUselessConstructor: the implicit one spreads its arguments by Array's iterator
  constructor() {
    super();
  }
}
detach(OwnWeakMap, WeakMap);

/** A DataView whose methods no later patch of DataView.prototype reaches. */
export class OwnDataView extends DataView<ArrayBufferLike> {
  constructor(buffer: ArrayBufferLike, byteOffset: number, byteLength: number) {
    super(buffer, byteOffset, byteLength);
  }
}
detach(OwnDataView, DataView);
