/**
 * The red logs of a site, one for each partition: its nodes of them, what the site takes of them,
 * and whether they can be reached. They are listed by the ordinals of their partitions.
 */
import { getRedKind } from '../../log/local-log.ts';
import type { LogCounts } from '../../log/log-positions.ts';
import type { RedHalt, RedLogConsumer } from '../../log/red-log-consumer.ts';
import type { RedLogEngine } from '../../log/red-log-engine.ts';
import type { LogMembers, RedLog, SavedLog } from '../../log/red-log.ts';
import {
  getEntriesAfterCheckpoint,
  getRecoveredRed,
  getSavedLog,
  getSavedSite,
  type RecoveredState,
} from '../../log/recovered-state.ts';
import { formatOperationId } from '../../records/operation-id.ts';
import { formatStartName, type Origin, type Origins } from '../../records/origin.ts';
import type {
  GlobalOperation,
  OpeningRecord,
  RedRecord,
  StreamPoint,
} from '../../records/records.ts';
import { getStampOf } from '../../records/vector.ts';
import type { RedOrder } from '../../replica/red/order/red-order.ts';
import type { RedAdmission } from '../../replica/red/requests/red-admission.ts';
import type { Replica } from '../../replica/replica.ts';
import { createRedLog, getRedLogPlace, type SiteOptions } from '../site-options.ts';
import { HaltedBytes } from './halted-bytes.ts';
import { HeldRows } from './held-rows.ts';
import { RedIntake } from './red-intake.ts';
import { RedReach } from './red-reach.ts';

/** Returns the name of a partition. */
function getLogName({ origins }: SiteOptions, partition: number): string {
  const log = origins.logs[partition];
  return partition === 0 || log === undefined ? 'main' : origins.getName(log);
}

/** What a site begins its red logs with. */
export interface RedLogParts {
  readonly engine: RedLogEngine;
  readonly options: SiteOptions;
  readonly stored: RecoveredState;
  /** Returns who gets a log, from the members as that log has them. */
  getMembers(origins: Origins): LogMembers;
  readonly replica: Replica;
  createReader(log: RedLog<RedRecord>, saved: SavedLog | undefined): RedLogConsumer<RedRecord>;
}

export class RedLogs {
  readonly nodes: readonly RedLog<RedRecord>[];
  readonly intakes: readonly RedIntake[];
  readonly reaches: readonly RedReach[];
  readonly #haltedBytes: HaltedBytes;
  readonly #heldRows: HeldRows;
  readonly #replica: Replica;
  readonly #origins: Origins;

  constructor(parts: RedLogParts) {
    const { options, replica, stored, engine } = parts;
    this.#replica = replica;
    this.#origins = options.origins;
    const shared = stored.checkpoint && getSavedSite(stored.checkpoint).shared;
    const saved = options.origins.logs.map(
      (_, partition) => shared && getSavedLog(shared, partition),
    );
    this.nodes = saved.map((savedLog, partition) => {
      const { members: origins } = replica.red.orders[partition] as RedOrder;
      return createRedLog(engine, options, partition, {
        stored: getRecoveredRed(stored, partition),
        saved: savedLog,
        provenCount: replica.getProvenRedCount(partition),
        origins,
        members: parts.getMembers(origins),
      });
    });
    this.#haltedBytes = new HaltedBytes(getEntriesAfterCheckpoint(stored), options.maxHaltedBytes);
    this.#heldRows = new HeldRows(
      replica.red.orders.flatMap(({ holds }) => holds ?? []),
      (logs, operations) => ({
        obstacle: this.#findObstacle(logs),
        awaitedSites: this.#findAwaitedSites(operations),
      }),
      (held) => options.observer?.onRowsHeld?.(held),
    );
    this.intakes = this.nodes.map((log, partition) => {
      const consumer = parts.createReader(log, saved[partition]);
      return new RedIntake(consumer, this.#haltedBytes, replica, {
        ordinal: partition,
        name: getLogName(options, partition),
      });
    });
    this.reaches = this.nodes.map((_, partition) => this.#createReach(options, partition));
    for (const partition of this.nodes.keys()) this.#open(options, partition);
  }

  // These are called after every input. They are loops, because callbacks would be allocated at
  // each call.

  get isBusy(): boolean {
    for (const { isBusy } of this.nodes) if (isBusy) return true;
    return this.#heldRows.isAny;
  }

  get wakeAtMs(): number {
    let atMs = Infinity;
    for (const { wakeAtMs } of this.nodes)
      if (wakeAtMs !== undefined && wakeAtMs < atMs) atMs = wakeAtMs;
    return atMs;
  }

  /** The greatest number of entries that a log keeps for other sites. */
  get backlogLength(): number {
    let most = 0;
    for (const { backlogLength } of this.nodes) if (backlogLength > most) most = backlogLength;
    return most;
  }

  /** Whether the site keeps as much as it may for logs that have halted. */
  get isFull(): boolean {
    return this.#haltedBytes.isFull;
  }

  /** The halt of the first log that has halted. */
  get halt(): RedHalt | undefined {
    return this.intakes.find(({ halt }) => halt !== undefined)?.halt;
  }

  /** Returns the halts that are new. The site has to report them. */
  takeNewHalts(): readonly RedHalt[] {
    return this.intakes.flatMap((intake) => intake.takeNewHalt() ?? []);
  }

  /** Returns the places in all logs from which on entries are needed. */
  addRetainedFrom(positions: LogCounts): LogCounts {
    for (const [partition, { retainedFrom }] of this.nodes.entries())
      positions[getRedKind(partition)] = retainedFrom;
    return positions;
  }

  /** The end of the copy of a log, unless the log has halted here. */
  getEnd(log: Origin): StreamPoint | undefined {
    const partition = this.#origins.logs.indexOf(log);
    return this.intakes[partition]?.halt === undefined ? this.nodes[partition]?.end : undefined;
  }

  getDigest(log: Origin, length: number): number | undefined {
    return this.nodes[this.#origins.logs.indexOf(log)]?.digest(length);
  }

  tick(nowMs: number): void {
    for (const [partition, log] of this.nodes.entries()) {
      log.tick(nowMs);
      if (this.#replica.waitsForRed(partition)) log.catchUp?.(nowMs);
    }
    for (const reach of this.reaches) reach.tick(nowMs);
    this.#heldRows.tick(nowMs);
  }

  noteTime(nowMs: number): void {
    for (const reach of this.reaches) reach.note(nowMs);
  }

  noteHeard(from: Origin, nowMs: number): void {
    for (const reach of this.reaches) reach.noteHeard(from, nowMs);
  }

  setConnected(site: Origin, isConnected: boolean, nowMs: number): void {
    for (const reach of this.reaches) reach.setConnected(site, isConnected, nowMs);
  }

  /** Returns what the red operations of each log wait for, if they do. */
  findProblems(nowMs: number): readonly (string | undefined)[] {
    return this.reaches.map((reach) => reach.findProblem(nowMs));
  }

  /** Returns why one of the logs orders nothing, if this site knows it. */
  #findObstacle(logs: readonly number[]): string | undefined {
    for (const log of logs) {
      const problem = this.reaches[log]?.findProblem(this.#replica.nowMs);
      if (problem !== undefined)
        return `waits for ${problem}. Start what it waits for, or restore the red log`;
      if (this.intakes[log]?.halt !== undefined)
        return 'has halted here. Follow the alarm about that';
    }
    return undefined;
  }

  /**
   * Returns the sites that have made what the globals depend on, and that this site lacks. No site
   * may propose these globals before it has all of that.
   */
  #findAwaitedSites(operations: readonly GlobalOperation[]): readonly string[] {
    const { stable } = this.#replica.state;
    return this.#origins.sites
      .filter((site) =>
        operations.some(({ snapshot }) => getStampOf(snapshot, site) > (stable[site] ?? 0)),
      )
      .map((site) => this.#origins.getName(site));
  }

  /** Entries were written to any log of the site. */
  onStored(entries: readonly unknown[]): void {
    if (!this.#haltedBytes.hasBegun) return;
    this.#haltedBytes.addWritten(entries);
    for (const intake of this.intakes) intake.refuseIfFull();
  }

  onCheckpointed(): void {
    this.#haltedBytes.onCheckpointed();
  }

  /**
   * Appends the opening of a log that lacks confirmed records, if this site leads it and has
   * appended nothing to it yet.
   */
  #open(options: SiteOptions, partition: number): void {
    const { leader, opening } = getRedLogPlace(options, partition);
    const log = this.nodes[partition];
    const mustOpen =
      opening !== undefined && leader === options.site && log?.end?.length === opening.length;
    if (!mustOpen) return;
    const { site, epoch, origins } = options;
    const { clock, wallMs, nowMs } = this.#replica;
    const name = formatStartName(origins.get(site), epoch);
    const record: OpeningRecord = {
      kind: 'opening',
      id: formatOperationId(`${name}.opening`, partition + 1),
      site,
      ...(partition > 0 && { partition }),
      stamp: clock.next(wallMs, opening.stamp),
      holds: opening.holds,
    };
    log.propose(record, nowMs);
  }

  #createReach(options: SiteOptions, partition: number): RedReach {
    const { origins, site } = options;
    const { red, options: used } = this.#replica;
    // If servers order the records, no leader can be out of reach.
    const place = used.redLeader === undefined ? undefined : getRedLogPlace(options, partition);
    return new RedReach(
      {
        site,
        origins,
        redLeader: place?.leader,
        voters: place?.voters,
        partition: origins.logs.length > 1 ? getLogName(options, partition) : undefined,
      },
      {
        admission: red.admissions[partition] as RedAdmission,
        endWaiting: (endsProposed) => red.endWaiting(endsProposed, partition),
      },
    );
  }
}
