/**
 * The life of a tracer, as one state:
 *
 * ```
 *  idle ---enable---> recording ---disable, fatal error---> disabled
 *   |                     ^                                 |    ^
 *   |                     +-------------enable--------------+    |
 *   +-------------------------fatal error------------------------+
 *
 *  each of these ---close---> closing ---all is written or lost---> closed
 * ```
 * A fatal write error stops the recording, and keeps `autostart` from beginning it. It is not the end: after a
 * successful `reopen` the program may enable the tracer again.
 */
export class TracerState {
  #state: 'idle' | 'recording' | 'disabled' | 'closing' | 'closed' = 'idle';

  get isIdle(): boolean {
    return this.#state === 'idle';
  }

  get isRecording(): boolean {
    return this.#state === 'recording';
  }

  /** Whether `close` was called, or more. */
  get isClosing(): boolean {
    return this.#state === 'closing' || this.#state === 'closed';
  }

  /** Whether nothing is written any more. */
  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Not after `close`. */
  enable(): void {
    this.#state = 'recording';
  }

  /** Returns whether it was recording. */
  disable(): boolean {
    const wasRecording = this.isRecording;
    if (wasRecording) {
      this.#state = 'disabled';
    }
    return wasRecording;
  }

  /** A write has failed for good. Returns whether it was recording. */
  fail(): boolean {
    if (this.isIdle) {
      this.#state = 'disabled';
    }
    return this.disable();
  }

  close(): void {
    this.#state = 'closing';
  }

  /** The close has failed before anything was closed: it may be tried again. */
  cancelClose(): void {
    this.#state = 'disabled';
  }

  release(): void {
    this.#state = 'closed';
  }
}
