/**
 * Low watermarks tell how long a removal has to be remembered: until nothing older can come. A site
 * that has applied many removals writes a low watermark into its stream. That is a blue operation
 * without effects. It names a vector that all operations of the site that come after it have seen.
 * If the watermarks of all sites cover a removal, every operation still to come has seen it and has
 * a later time (B4). Then the stamp of the removal decides nothing any more.
 *
 * A watermark holds for red operations too. It waits until those have ended that were in flight
 * when its vector was taken. Red operations of an earlier start have ended once a record of this
 * start has passed in each red log, and once no hold of them stands: another site may end a global.
 * A watermark is an entry of the site's own log, so it survives a crash: the next start has seen
 * its vector before it does anything.
 */
import type { Settling, SitePart } from '../core/site-part.ts';
import type { BluePath } from './blue/blue-path.ts';
import { formatOperationId } from '../core/operation-id.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { BlueOperation } from '../../service/records/records.ts';
import type { RedPath } from '../lane/red-path.ts';
import type { SiteCore } from '../core/site-core.ts';
import type { Choice } from '../../service/records/reply.ts';
import type { Vector } from '../../service/records/vector.ts';

/** The number of removals that a site applies between two watermarks. */
export const REMOVALS_PER_WATERMARK = 256;

/** The shadow operation of a watermark. No service has one with an empty name. */
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
  /** Red operations of this site that may have seen less than the vector. */
  readonly older: Set<string>;
}

export class LowWatermarks implements SitePart, Settling {
  /** Whether removals were applied, or a watermark waits for operations in flight. */
  isDue = true;
  readonly #core: SiteCore;
  readonly #blue: BluePath;
  readonly #red: RedPath;
  /** The prefix of this start's watermarks. No other start names operations like it. */
  readonly #client: string;
  /** By the ordinal of a site. */
  readonly #watermarks = new Map<Origin, Vector>();
  #pending: PendingWatermark | undefined;
  #written = 0;
  /** The number of removals that were applied when the last vector was taken. */
  #removals = 0;

  constructor(core: SiteCore, blue: BluePath, red: RedPath, startName: string) {
    this.#core = core;
    this.#blue = blue;
    this.#red = red;
    this.#client = `${startName}.floor`;
    core.state.store.onRemoval = () => {
      this.isDue = true;
    };
  }

  /** If it is the watermark of a site, forgets the removals that are covered now. */
  onBlueApplied({ shadow, site, reply }: BlueOperation): void {
    if (shadow !== WATERMARK_SHADOW) return;
    this.#watermarks.set(site, reply.value as Vector);
    const { state, options } = this.#core;
    const remaining = options.origins.sites.filter((item) => !this.#hasEnded(item));
    const watermarks = remaining.map((item) => this.#watermarks.get(item));
    const covered = state.stable.map((_, entry) =>
      Math.min(...watermarks.map((watermark) => watermark?.[entry] ?? 0)),
    );
    state.store.forgetRemovals(covered);
  }

  /** Whether no operation of a closed origin is to come any more, blue or red. */
  #hasEnded(origin: Origin): boolean {
    const { options, state } = this.#core;
    const { final } = options.origins.get(origin);
    return (
      final !== undefined &&
      (state.stable[origin] ?? 0) >= final.stamp &&
      !this.#red.lanes.all.some(({ order }) => order.mayHaveRecordsFrom(origin))
    );
  }

  /** Writes a watermark if one is due, and if no operation in flight has seen less. */
  settle(): boolean {
    this.isDue = this.#pending !== undefined || this.#areEnough;
    this.#pending ??= this.#begin();
    if (this.#pending === undefined) return false;
    const { vector, older } = this.#pending;
    for (const id of older) {
      if (this.#red.isInFlight(id)) return true;
      older.delete(id);
    }
    this.#pending = undefined;
    this.isDue = this.#areEnough;
    this.#written += 1;
    const id = formatOperationId(this.#client, this.#written);
    this.#blue.commit({
      id,
      hop: undefined,
      choice: WATERMARK_CHOICE,
      reply: { value: vector },
    });
    return true;
  }

  /** Whether enough removals were applied since the last vector. */
  get #areEnough(): boolean {
    const { state, options } = this.#core;
    const { removalsPerWatermark = REMOVALS_PER_WATERMARK } = options;
    return state.store.removalCount - this.#removals >= removalsPerWatermark;
  }

  /** Takes a vector once enough removals were applied. */
  #begin(): PendingWatermark | undefined {
    const { state } = this.#core;
    if (!this.#areEnough || !this.#blue.canOriginate) return undefined;
    if (!this.#red.ensureMarkersPassed(formatOperationId(this.#client, 0))) return undefined;

    this.#removals = state.store.removalCount;
    return {
      vector: state.stable.slice(),
      older: new Set(this.#red.inFlight),
    };
  }
}
