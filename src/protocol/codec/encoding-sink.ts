/** Sinks of those who host a store for others elsewhere. */

/** A sink that encodes at once what it receives: a store in the same process may show it values of its own. */
export abstract class EncodingSink {
  /** Marks this very object: a sink that somebody puts in front of it is one like any other. */
  readonly #isMarked = true;

  static isEncodingSink(sink: object): boolean {
    return #isMarked in sink && sink.#isMarked;
  }
}
