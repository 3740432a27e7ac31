/**
 * How long a removal has to be remembered: until nothing older can come. A site
 * that has applied many removals writes a *floor* into its stream: a blue
 * operation without effects that says which vector all its operations have seen
 * that the receiver has not applied by then. What all sites' floors cover,
 * every operation still to come has seen, so its time is above (B4): the stamps
 * of such removals decide nothing any more.
 *
 * A floor holds for red operations too, since it waits until those have ended
 * that were in flight when its vector was taken; and for those of an earlier
 * start of the site, since a record of this start has to be through before. As
 * an entry of the site's own log it survives a crash: the next start sees what
 * the floor has seen before it does anything.
 */
import type { BluePath } from './causal/blue-path.ts';
import { formatOperationId } from '../records/operation-id.ts';
import type { Origin } from '../records/origin.ts';
import type { BlueOperation, OperationId } from '../records/records.ts';
import type { RedPath } from './red/red-path.ts';
import type { ReplicaCore } from './core/replica-port.ts';
import type { Choice } from '../records/reply.ts';
import type { Vector } from '../records/vector.ts';

/** Removals that a site applies between two floors. */
export const REMOVALS_PER_WATERMARK = 256;

/**
 * Stands for the shadow operation of a floor: services have none without a
 * name.
 */
const WATERMARK_SHADOW = '';
const WATERMARK_CHOICE: Choice = {
  shadow: WATERMARK_SHADOW,
  color: 'blue',
  args: undefined,
  effects: [],
  reply: undefined,
};

interface PendingWatermark {
  readonly vector: Vector;
  /** Red operations of this site that may have seen less. */
  readonly older: Set<OperationId>;
}

export class LowWatermarks {
  readonly #core: ReplicaCore;
  readonly #blue: BluePath;
  readonly #red: RedPath;
  /** Of this start of the site: no other start names operations like it. */
  readonly #client: string;
  /** By ordinal, of sites alone. */
  readonly #watermarks = new Map<Origin, Vector>();
  #pending: PendingWatermark | undefined;
  #written = 0;
  /** Removals that had been applied when the last vector was taken. */
  #removals = 0;

  constructor(
    core: ReplicaCore,
    blue: BluePath,
    red: RedPath,
    startName: string,
  ) {
    this.#core = core;
    this.#blue = blue;
    this.#red = red;
    this.#client = `${startName}.floor`;
  }

  /**
   * A blue operation has been applied; of floors what they cover is forgotten.
   */
  onApplied({ shadow, site, reply }: BlueOperation): void {
    if (shadow !== WATERMARK_SHADOW) return;
    this.#watermarks.set(site, reply.value as Vector);
    const { state, options } = this.#core;
    const remaining = options.origins.sites.filter(
      (item) => !this.#hasEnded(item),
    );
    const floors = remaining.map((item) => this.#watermarks.get(item));
    const covered = state.stable.map((_, entry) =>
      Math.min(...floors.map((floor) => floor?.[entry] ?? 0)),
    );
    state.store.forgetRemovals(covered);
  }

  /**
   * Whether nothing of a closed origin is to come any more, of either color.
   */
  #hasEnded(origin: Origin): boolean {
    const { options, state } = this.#core;
    const { final } = options.origins.get(origin);
    return (
      final !== undefined &&
      (state.stable[origin] ?? 0) >= final.stamp &&
      !this.#red.order.hasRecordsFrom(origin)
    );
  }

  /**
   * Writes a floor where it is time for one, and nothing that is in flight has
   * seen less.
   */
  writeIfDue(): void {
    this.#pending ??= this.#beginIfDue();
    if (this.#pending === undefined) return;
    const { vector, older } = this.#pending;
    for (const id of older) {
      if (this.#red.isInFlight(id)) return;
      older.delete(id);
    }
    this.#pending = undefined;
    this.#written += 1;
    const id = formatOperationId(this.#client, this.#written);
    this.#blue.commit({
      id,
      hop: undefined,
      choice: WATERMARK_CHOICE,
      reply: { value: vector },
    });
  }

  /** Takes a vector once enough removals were applied since the last one. */
  #beginIfDue(): PendingWatermark | undefined {
    const { state, options } = this.#core;
    const { removalCount } = state.store;
    const { removalsPerWatermark = REMOVALS_PER_WATERMARK } = options;
    if (removalCount - this.#removals < removalsPerWatermark) return undefined;
    if (!this.#blue.canOriginate) return undefined;
    if (!this.#red.ensureMarkerPassed(formatOperationId(this.#client, 0)))
      return undefined;

    this.#removals = removalCount;
    return {
      vector: state.stable.slice(),
      older: new Set(this.#red.inFlightIds),
    };
  }
}
