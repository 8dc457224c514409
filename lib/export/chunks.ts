/** Collects what a format writes into chunks of a good size for a file or a pipe. */

const CHUNK_BYTES = 64 * 1024;

export class Chunks {
  #ready: Uint8Array[] = [];
  #text = '';
  bytes = 0;

  /** Text must be well-formed. */
  text(part: string): void {
    this.#text += part;
    if (this.#text.length >= CHUNK_BYTES) {
      this.#flush();
    }
  }

  push(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    this.#ready.push(bytes);
  }

  /** What was written since the last call. */
  take(): Uint8Array[] {
    this.#flush();
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  #flush(): void {
    if (this.#text !== '') {
      const bytes = Buffer.from(this.#text);
      this.#text = '';
      this.push(bytes);
    }
  }
}
