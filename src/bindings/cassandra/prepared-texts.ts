/**
 * The texts under which statements are prepared, so that no value is encoded by types that are no
 * longer valid.
 *
 * A node knows a prepared statement by the hash of its text. It forgets the statement when a table
 * or type in it changes. But any client that prepares the same text makes the hash known again.
 * Another client that still has the old types would then send bytes that the node takes for another
 * value: 7 becomes 9.8e-45. The protocol reports no change of the types of markers, and an event
 * may arrive too late.
 *
 * So each text carries a mark that no other preparation has, and a text is prepared once. If a node
 * knows the text, it has prepared it for this process, and nothing in it has changed since.
 * Otherwise the node answers that it does not know the statement, and a new text is prepared, with
 * the new types. Each node has texts of its own, because a text is known where it was prepared.
 */
import { randomUUID } from 'node:crypto';

/** Matches the mark at the end of a text. */
const MARK = /\n\/\* [0-9a-f-]{36} \d+ \*\/$/;

export class PreparedTexts {
  readonly #id = randomUUID();
  readonly #texts = new Map<string, string>();
  #count = 0;

  /** Returns the text of a statement, the same until it is replaced. */
  getText(cql: string): string {
    return this.#texts.get(cql) ?? this.create(cql);
  }

  /** Replaces a text that a node does not know. Does nothing if it has been replaced already. */
  replace(cql: string, text: string): void {
    if (this.#texts.get(cql) === text) this.create(cql);
  }

  /** Returns a text of the statement that was never used before. */
  create(cql: string): string {
    this.#count += 1;
    const text = `${cql}\n/* ${this.#id} ${this.#count} */`;
    this.#texts.set(cql, text);
    return text;
  }
}

/** Returns a statement without its mark. */
export function removeMark(text: string): string {
  return text.replace(MARK, '');
}
