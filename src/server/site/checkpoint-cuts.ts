/** Cuts of a site's state: what a checkpoint contains, taken between two inputs. */
import { getRedKind } from '../log/local-log.ts';
import type { LogCounts } from '../log/log-positions.ts';
import type { SavedLog } from '../log/red-log.ts';
import type { CheckpointCut, SavedSiteState } from '../log/recovered-state.ts';
import { saveParts } from './recovery.ts';
import type { Lanes } from './lane/lane.ts';
import type { WholeSite } from './whole-site.ts';

export class CheckpointCuts {
  readonly #site: WholeSite;
  readonly #lanes: Lanes;
  /** The lengths of the red logs at the last cut. */
  #cutAt: readonly number[] | undefined;

  constructor(site: WholeSite) {
    this.#site = site;
    this.#lanes = site.red.lanes;
  }

  /**
   * Returns why no cut can be made now, if so: a red log and the records that were taken from it do
   * not agree.
   */
  findProblem(): string | undefined {
    for (const { intake, node } of this.#lanes) {
      const { halt, next } = intake;
      if (halt !== undefined) return `the site takes no more of the red log, since ${halt.message}`;
      // An engine may have jumped, and not have shown that yet.
      if (node.save().delivered !== next) return 'the red log is ahead of what it has delivered';
    }
    return undefined;
  }

  create(): CheckpointCut {
    this.#cutAt = this.#lanes.all.map(({ intake }) => intake.next);
    const { shared, own } = saveParts(this.#site);
    const [log, ...logs] = this.#lanes.all.map(({ node }) => node.save());
    const smallParts: SavedSiteState = {
      shared: {
        replica: shared,
        log: log as SavedLog,
        ...(logs.length > 0 && { logs }),
      },
      own,
    };
    const contained: LogCounts = {
      local: this.#site.syncedLength,
      red: 0,
    };
    for (const { partition, order } of this.#lanes)
      contained[getRedKind(partition)] = order.deliveredCount;
    return { smallParts, contained };
  }

  onCheckpointed(): void {
    for (const [partition, length] of this.#cutAt?.entries() ?? [])
      this.#lanes.at(partition).node.release(length);
  }
}
