/**
 * How long a removal has to be remembered: until nothing older can come. A site that has applied many removals writes a
 * *floor* into its stream: a blue operation without effects that says which vector all its operations have seen that the
 * receiver has not applied by then. What all sites' floors cover, every operation still to come has seen, so its time is
 * above (B4): the stamps of such removals decide nothing any more.
 *
 * A floor holds for red operations too, since it waits until those have ended that were under way when its vector was
 * taken; and for those of an earlier start of the site, since a record of this start has to be through before. As an
 * entry of the site's own log it survives a crash: the next start sees what the floor has seen before it does anything.
 */
import type { BluePath } from './causal/blue-path.ts';
import { operationId } from '../records/operation-id.ts';
import type { Origin } from '../records/origin.ts';
import type { BlueOperation, OperationId } from '../records/records.ts';
import type { RedPath } from './red/red-path.ts';
import type { ReplicaCore } from './core/replica-port.ts';
import type { Choice } from '../records/reply.ts';
import type { Vector } from '../records/vector.ts';

/** Removals that a site applies between two floors. */
export const REMOVALS_PER_FLOOR = 256;

/** Stands for the shadow operation of a floor: services have none without a name. */
const FLOOR = '';
const CHOICE: Choice = { shadow: FLOOR, colour: 'blue', args: undefined, effects: [], reply: undefined };

interface FloorsHost {
  readonly core: ReplicaCore;
  readonly blue: BluePath;
  readonly red: RedPath;
}

/** A floor that is not written yet. */
interface Coming {
  readonly vector: Vector;
  /** Red operations of this site that may have seen less. */
  readonly older: Set<OperationId>;
}

/** The floors of all sites, as this one knows them. */
export class Floors {
  readonly #host: FloorsHost;
  /** Of this start of the site: no other start names operations like it. */
  readonly #client: string;
  /** By ordinal, of sites alone. */
  readonly #floors = new Map<Origin, Vector>();
  #coming: Coming | undefined;
  #written = 0;
  /** Removals that had been applied when the last vector was taken. */
  #removals = 0;

  constructor(host: FloorsHost, startName: string) {
    this.#host = host;
    this.#client = `${startName}.floor`;
  }

  /** A blue operation has been applied; of floors what they cover is forgotten. */
  onApplied({ shadow, site, reply }: BlueOperation): void {
    if (shadow !== FLOOR) return;
    this.#floors.set(site, reply.value as Vector);
    const { state, options } = this.#host.core;
    const floors = options.origins.sites.map((each) => this.#floors.get(each));
    const covered = state.stable.map((_, entry) => Math.min(...floors.map((floor) => floor?.[entry] ?? 0)));
    state.store.forgetRemovals(covered);
  }

  /** Writes a floor where it is time for one, and nothing that is under way has seen less. */
  pump(): void {
    const { blue, red, core } = this.#host;
    if (this.#coming === undefined) {
      const { removals } = core.state.store;
      const { removalsPerFloor = REMOVALS_PER_FLOOR } = core.options;
      if (removals - this.#removals < removalsPerFloor || !blue.isRecovered) return;
      if (!red.order(operationId(this.#client, 0))) return;
      this.#removals = removals;
      this.#coming = { vector: core.state.stable.slice(), older: new Set(red.underWay) };
    }
    const { vector, older } = this.#coming;
    for (const id of older) {
      if (red.isUnderWay(id)) return;
      older.delete(id);
    }
    this.#coming = undefined;
    this.#written += 1;
    const id = operationId(this.#client, this.#written);
    blue.commit({ id, hop: undefined, choice: CHOICE, reply: { value: vector } });
  }
}
