/** Sinks of those who host a store for others elsewhere. */

/**
 * A sink that encodes at once what it receives: a store in the same process may
 * show it values of its own.
 */
export abstract class EncodingSink {
  /** Marks this very object: a sink that wraps it is an ordinary one. */
  readonly #isMarked = true;

  static isEncodingSink(sink: object): boolean {
    return #isMarked in sink && sink.#isMarked;
  }
}
