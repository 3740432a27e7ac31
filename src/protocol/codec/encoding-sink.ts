/** Sinks of code that hosts a store for remote clients. */

/**
 * A sink that encodes at once what it receives. So a store in the same process
 * may pass it values that it changes later.
 */
export abstract class EncodingSink {
  /** Marks this very object. A sink that wraps it is an ordinary one. */
  readonly #isMarked = true;

  static isEncodingSink(sink: object): boolean {
    return #isMarked in sink && sink.#isMarked;
  }
}
