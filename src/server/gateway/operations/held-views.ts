import type { CorrectableError } from '../../../correctable/errors.ts';
import type { ReplyMemory } from '../clients/client-table.ts';
import { ConfirmableViews, type ConfirmableView } from './confirmable-views.ts';

/** The confirmable views of one operation, whose memory counts for its client. */
export class HeldViews extends ConfirmableViews {
  readonly #memory: ReplyMemory;
  #bytes = 0;

  constructor(memory: ReplyMemory) {
    super();
    this.#memory = memory;
  }

  /**
   * Keeps the view, so that the store can confirm it, and so that it can be sent again to a client
   * that resends the operation. If the client's memory is full, only `error` is remembered in its
   * slot.
   */
  hold(view: ConfirmableView, fullError: () => CorrectableError): void {
    this.#freeSlot(view.seq);
    if (this.#memory.tryReserve(view.bytes)) {
      this.#bytes += view.bytes;
      this.set(view);
    } else this.set({ seq: view.seq, error: fullError() });
  }

  /** Remembers why view `seq` cannot be confirmed. */
  drop(seq: number, error: CorrectableError): void {
    this.#freeSlot(seq);
    this.set({ seq, error });
  }

  release(): void {
    this.clear();
    if (this.#bytes > 0) this.#memory.release(this.#bytes);
    this.#bytes = 0;
  }

  #freeSlot(seq: number): void {
    const freed = this.makeRoom(seq);
    if (freed > 0) this.#memory.release(freed);
    this.#bytes -= freed;
  }
}
