/**
 * A marker that a start has put into the red order: once it has passed, whatever earlier starts had proposed has, or never
 * will.
 */
import type { OperationId } from '../../records/records.ts';

export class StartMarker {
  #id: OperationId | undefined;
  #hasMarkerPassed = false;

  /** Whether it has passed. Where none has been proposed, this one is. */
  ensurePassed(id: OperationId, propose: () => void): boolean {
    if (this.#id === undefined) {
      this.#id = id;
      propose();
    }
    return this.#hasMarkerPassed;
  }

  /** Whether it has passed, if there is one. */
  get hasPassed(): boolean {
    return this.#hasMarkerPassed;
  }

  /** A marker has passed, of whatever name. */
  onMarker(id: OperationId): void {
    if (this.#id === id) this.#hasMarkerPassed = true;
  }
}
