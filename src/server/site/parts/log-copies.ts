/**
 * Copies of what `main` has decided about the deployment, for the other red logs. Each copy has the
 * place of the decision in `main`. A log without a copy would have records behind which its readers
 * do not know of the decision.
 */
import type { MemberRecord, ActivateRecord } from '../../service/records/records.ts';
import { isActingFor } from '../core/acting-site.ts';
import type { SiteCore } from '../core/site-core.ts';

export class LogCopies {
  readonly #core: SiteCore;
  /** Returns the place of the last copy that a red log has here. */
  readonly #getCopiedPlace: (partition: number) => number;
  /** By partition: the place up to which this start has proposed copies. */
  readonly #proposed: number[] = [];

  constructor(core: SiteCore, getCopiedPlace: (partition: number) => number) {
    this.#core = core;
    this.#getCopiedPlace = getCopiedPlace;
  }

  /**
   * Proposes the copies that logs lack, if this site has to. A start does so once more: the log may
   * have been restored without its end.
   *
   * @param place the place of the decision in `main`; 0 before the first one
   * @returns whether any was proposed
   */
  propose(place: number, create: (partition: number) => MemberRecord | ActivateRecord): boolean {
    if (place === 0) return false;
    let hasProposed = false;
    const { length } = this.#core.options.origins.logs;
    for (let partition = 1; partition < length; partition += 1) {
      if (!isActingFor(this.#core.options, partition)) continue;
      const known = this.#getCopiedPlace(partition);
      if (place <= Math.max(known, this.#proposed[partition] ?? 0)) continue;
      this.#proposed[partition] = place;
      this.#core.outputs.propose(create(partition));
      hasProposed = true;
    }
    return hasProposed;
  }

  /** Whether each red log has a copy of this place of `main` here. */
  areDelivered(place: number): boolean {
    const { logs } = this.#core.options.origins;
    return [...logs.keys()].slice(1).every((partition) => this.#getCopiedPlace(partition) >= place);
  }
}
