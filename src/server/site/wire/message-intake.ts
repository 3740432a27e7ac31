/**
 * Which messages of other sites a site takes: those for which it has room, and whose content it
 * knows. Other messages change nothing, and their senders send them again.
 */
import type { RedLogEngine } from '../../log/red-log-engine.ts';
import { RejectedMessageError, type Envelope, type SiteMessage } from './envelope.ts';
import type { MessageFilter } from './message-filter.ts';
import { findContentRejection, needsRoom } from './validate-content.ts';
import type { Origin, Origins } from '../../service/records/origin.ts';
import { EffectValidator } from '../../service/effect-validator.ts';
import type { Tables } from '../../service/tables.ts';

export class MessageIntake {
  readonly #filter: MessageFilter;
  readonly #engine: RedLogEngine;
  readonly #origins: Origins;
  readonly #effectValidator: EffectValidator;
  #noRoomCount = 0;

  constructor(filter: MessageFilter, engine: RedLogEngine, origins: Origins, tables: Tables) {
    this.#filter = filter;
    this.#engine = engine;
    this.#origins = origins;
    this.#effectValidator = new EffectValidator(tables);
  }

  /** The number of messages that were not taken for lack of room. */
  get noRoomCount(): number {
    return this.#noRoomCount;
  }

  /** Whether there is room for what the message leads to. Counts refusals. */
  hasRoomFor({ message }: Envelope, isFull: boolean): boolean {
    if (!isFull || !needsRoom(message, this.#engine.messages)) return true;
    this.#noRoomCount += 1;
    return false;
  }

  /** Rejects a message of a node that another one of its site has overtaken. */
  rejectFork(from: Origin): void {
    const problem = 'another node of its site has gone on';
    this.#filter.reject(new RejectedMessageError('start', problem, from));
  }

  /** Whether the site knows all that the message names. Rejects it if not. */
  hasKnownContent(from: Origin, message: SiteMessage): boolean {
    const rejection = findContentRejection(message, from, {
      known: this.#effectValidator,
      log: this.#engine.messages,
      origins: this.#origins,
    });
    if (rejection !== undefined) this.#filter.reject(rejection);
    return rejection === undefined;
  }
}
