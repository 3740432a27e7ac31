/** Cuts of a site's state: what a checkpoint contains, taken between two inputs. */
import { getRedKind } from '../../log/local-log.ts';
import type { LogCounts } from '../../log/log-positions.ts';
import type { SavedLog } from '../../log/red-log.ts';
import type { CheckpointCut, SavedSiteState } from '../../log/recovered-state.ts';
import type { Replica } from '../../replica/replica.ts';
import type { RedLogs } from './red-logs.ts';

export class CheckpointCuts {
  readonly #replica: Replica;
  readonly #redLogs: RedLogs;
  /** The lengths of the red logs at the last cut. */
  #cutAt: readonly number[] | undefined;

  constructor(replica: Replica, redLogs: RedLogs) {
    this.#replica = replica;
    this.#redLogs = redLogs;
  }

  /**
   * Returns why no cut can be made now, if so: a red log and the records that were taken from it do
   * not agree.
   */
  findProblem(): string | undefined {
    for (const [partition, { halt, next }] of this.#redLogs.intakes.entries()) {
      if (halt !== undefined) return `the site takes no more of the red log, since ${halt.message}`;
      // An engine may have jumped, and not have shown that yet.
      if (this.#redLogs.nodes[partition]?.save().delivered !== next)
        return 'the red log is ahead of what it has delivered';
    }
    return undefined;
  }

  create(): CheckpointCut {
    this.#cutAt = this.#redLogs.intakes.map(({ next }) => next);
    const { shared, own } = this.#replica.save();
    const [log, ...logs] = this.#redLogs.nodes.map((item) => item.save());
    const smallParts: SavedSiteState = {
      shared: {
        replica: shared,
        log: log as SavedLog,
        ...(logs.length > 0 && { logs }),
      },
      own,
    };
    const contained: LogCounts = {
      local: this.#replica.syncedLength,
      red: 0,
    };
    const { orders } = this.#replica.red;
    for (const [partition, { deliveredCount }] of orders.entries())
      contained[getRedKind(partition)] = deliveredCount;
    return { smallParts, contained };
  }

  onCheckpointed(): void {
    for (const [partition, length] of this.#cutAt?.entries() ?? [])
      this.#redLogs.nodes[partition]?.release(length);
  }
}
