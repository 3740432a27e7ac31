/** How often a site's red operations were rejected by certification, by what they met. */
import type { Conflict } from '../service/records/certification-result.ts';
import type { Origin } from '../service/records/origin.ts';
import type { SiteObserver } from '../site/core/site-core.ts';

/**
 * Rejections by reason. `name`: a field or row that was read changed. `range`: a scanned interval
 * changed. `predecessor`: an earlier operation that it depends on was rejected. `window`: the
 * snapshot was too old to check.
 */
export type CertificationStats = Readonly<Record<CountedReason, number>>;

/**
 * An operation that met a hold waits for its end, and has met no conflict. Nor has a global for
 * which a red log is too slow.
 */
type CountedReason = Exclude<Conflict['reason'], 'held' | 'aborted'>;

/** Counts those that `site` itself proposed: every site sees the rejections of all. */
export class CertificationCounter {
  readonly #stats = { name: 0, range: 0, predecessor: 0, window: 0 };
  readonly onRejected: NonNullable<SiteObserver['onRejected']>;

  constructor(site: Origin) {
    this.onRejected = (operation, conflict) => {
      if (operation.site !== site || conflict === undefined) return;
      const { reason } = conflict;
      if (reason !== 'held' && reason !== 'aborted') this.#stats[reason] += 1;
    };
  }

  get stats(): CertificationStats {
    return { ...this.#stats };
  }
}
