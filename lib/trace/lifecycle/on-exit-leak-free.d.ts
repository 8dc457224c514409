/** The package brings no types. */
declare module 'on-exit-leak-free' {
  /** Calls `run(object, 'exit')` when the process ends, unless `object` has been collected by then. */
  export function register<T extends object>(object: T, run: (object: T, event: string) => void): void;
  export function unregister(object: object): void;
}
