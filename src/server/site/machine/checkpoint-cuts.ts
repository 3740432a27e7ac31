/**
 * Cuts of a site's state: what a checkpoint contains, taken between two inputs.
 */
import type { RedLog } from '../../log/red-log.ts';
import type {
  CheckpointCut,
  SavedSiteState,
} from '../../log/recovered-state.ts';
import type { RedRecord } from '../../records/records.ts';
import type { Replica } from '../../replica/replica.ts';
import type { RedIntake } from './red-intake.ts';

export class CheckpointCuts {
  readonly #replica: Replica;
  readonly #log: RedLog<RedRecord>;
  readonly #redIntake: RedIntake;
  /** The length of the red log at the last cut. */
  #cutAt: number | undefined;

  constructor(replica: Replica, log: RedLog<RedRecord>, redIntake: RedIntake) {
    this.#replica = replica;
    this.#log = log;
    this.#redIntake = redIntake;
  }

  /**
   * Returns why no cut can be made now, if so: the red log and the records that
   * were taken from it do not agree.
   */
  findProblem(): string | undefined {
    const { halt, next } = this.#redIntake;
    if (halt !== undefined)
      return `the site takes no more of the red log, since ${halt.message}`;
    // An engine may have jumped, and not have shown that yet.
    if (this.#log.save().delivered === next) return undefined;
    return 'the red log is ahead of what it has delivered';
  }

  create(): CheckpointCut {
    this.#cutAt = this.#redIntake.next;
    const { shared, own } = this.#replica.save();
    const smallParts: SavedSiteState = {
      shared: { replica: shared, log: this.#log.save() },
      own,
    };
    const contained = {
      local: this.#replica.syncedLength,
      red: this.#replica.redDelivered,
    };
    return { smallParts, contained };
  }

  onCheckpointed(): void {
    this.#redIntake.onCheckpointed();
    if (this.#cutAt !== undefined) this.#log.release(this.#cutAt);
  }
}
