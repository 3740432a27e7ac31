/**
 * An update that has ended, as it is remembered: how to answer a repetition, and nothing of its arguments, its context or
 * what the store made of those.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import { failRow } from '../../../protocol/wire-errors.ts';
import { apart, blockOf, bytesOf, type KeptReply } from './kept-reply.ts';
import type { Ended, Outlet } from './submission-parts.ts';
import { viewRow } from './view-rows.ts';

/** What is told of an update whose result there was no room to keep. */
export const NOT_KEPT =
  'the update took effect; its result is not kept, since too much waits for an ack of this client';

/** An update that ended with a view or a failure. */
export class EndedUpdate implements Ended {
  readonly #id: number;
  /** What was taken for it; none where it ended with a view for which there was no room. */
  #reply: KeptReply | undefined;

  /** @param reply for which there is room, and which counts already */
  constructor(id: number, reply: KeptReply | undefined) {
    this.#id = id;
    this.#reply = reply;
  }

  get sharedBlock(): Uint8Array | undefined {
    return this.#reply && blockOf(this.#reply);
  }

  repeat(outlet: Outlet): void {
    const id = this.#id;
    const reply = this.#reply;
    if (reply === undefined) outlet.push(failRow(id, new CorrectableError('UNKNOWN', NOT_KEPT)));
    else if ('row' in reply) outlet.pushEncoded(reply.row);
    else outlet.push(viewRow(id, reply.level, reply.seq, reply.value, reply.isFinal ? { final: true } : undefined));
  }

  detach(): void {}

  setApart(): void {
    if (this.#reply !== undefined && this.sharedBlock !== undefined) this.#reply = apart(this.#reply);
  }

  forget(): number {
    const bytes = bytesOf(this.#reply);
    this.#reply = undefined;
    return bytes;
  }
}
