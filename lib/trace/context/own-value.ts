/** Reads a property without running code of the program. */

const { getOwnPropertyDescriptor, hasOwn } = Object;

/** The value of an own data property; undefined where there is none or it has a getter. Not for Proxies. */
export function ownValue(object: object, key: PropertyKey): unknown {
  const descriptor = getOwnPropertyDescriptor(object, key);
  return descriptor !== undefined && hasOwn(descriptor, 'value') ? descriptor.value : undefined;
}
