/**
 * A connection whose server goes away. The client is told first, and the connection lives until it has seen that: what
 * crosses would be lost with the connection, and its client could not tell whether it had begun.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { ServerRow } from '../../../protocol/rows/server-kinds.ts';

/** The number of the ping that follows `goaway`. */
const PING = 1;

/** The answer to what crosses the `goaway`: its client submits it elsewhere, as if for the first time. */
export const GOING_AWAY = new CorrectableError(
  'UNAVAILABLE',
  'the server goes away and has not begun with this operation',
);

/** How far the client knows. */
export class Draining {
  #known: 'announced' | 'seen' | undefined;

  get hasBegun(): boolean {
    return this.#known !== undefined;
  }

  /** Whether the client has read all that was sent before it was told. */
  get isSeen(): boolean {
    return this.#known === 'seen';
  }

  /** Tells the client, once. */
  begin(drainMs: number, push: (row: ServerRow) => void): void {
    if (this.hasBegun) return;
    this.#known = 'announced';
    push([0, 'goaway', drainMs]);
    push([PING, 'ping']);
  }

  /** The client has answered a ping, which is asked for this only. */
  answered(): void {
    if (this.hasBegun) this.#known = 'seen';
  }
}
