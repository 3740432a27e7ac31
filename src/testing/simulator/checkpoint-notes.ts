import type { CheckpointCut } from '../../server/log/recovered-state.ts';
import type { Checkpoint } from '../../server/service/records/checkpoint.ts';
import type { InstalledCopy } from './cluster/site-copies.ts';

/**
 * The notes of the checkers, one for each checkpoint of a site. A site that starts from a
 * checkpoint is as it was then, so the checkers go back to their notes of that time. The checkpoint
 * itself carries only the number of its note.
 */
export class CheckpointNotes {
  readonly #notes = new Map<number, unknown>();

  /** Adds the note of a checkpoint that was copied from another site. */
  install({ note, notes }: InstalledCopy): void {
    this.#notes.set(note, notes);
  }

  /** Returns the cut with the number of its note among its small parts. */
  pack({ smallParts, contained }: CheckpointCut, note: number, notes: unknown): CheckpointCut {
    this.#notes.set(note, notes);
    return { smallParts: { note, rest: smallParts }, contained };
  }

  /**
   * Separates the small parts of a checkpoint from its note. A checkpoint that came from another
   * site has its note among its own parts.
   */
  unpack({ smallParts }: Checkpoint): {
    readonly smallParts: unknown;
    readonly notes: unknown;
  } {
    const { note, rest = smallParts } = smallParts as {
      readonly note: number;
      readonly rest?: unknown;
    };
    return { smallParts: rest, notes: this.#notes.get(note) };
  }
}
