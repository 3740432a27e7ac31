/** Opens the red log of each lane of a site, and hands on to all of them what concerns all. */
import type { CorrectableError } from '../../../correctable/errors.ts';
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
import { formatOperationId } from '../core/operation-id.ts';
import { formatStartName, type Origin, type Origins } from '../../service/records/origin.ts';
import type {
  GlobalOperation,
  OpeningRecord,
  RedRecord,
  StreamPoint,
} from '../../service/records/records.ts';
import { getStampOf } from '../../service/records/vector.ts';
import { HaltedBytes } from './halted-bytes.ts';
import type { Lane, Lanes } from './lane.ts';
import { RedIntake } from './red-intake.ts';
import { RedReach } from './red-reach.ts';
import type { Replica } from '../replica.ts';
import { createRedLog, getRedLogPlace, type SiteOptions } from '../site-options.ts';
import { HeldRows } from './held-rows.ts';

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
  /**
   * Whether a log is out of reach, as far as the connections of this site show. Only then a
   * submission has to note the time.
   */
  isAnyOut = false;
  readonly lanes: Lanes;
  readonly #haltedBytes: HaltedBytes;
  readonly #heldRows: HeldRows;
  readonly #replica: Replica;
  readonly #origins: Origins;

  constructor(parts: RedLogParts) {
    const { options, replica, stored, engine } = parts;
    this.#replica = replica;
    this.#origins = options.origins;
    this.lanes = replica.red.lanes;
    const shared = stored.checkpoint && getSavedSite(stored.checkpoint).shared;
    this.#haltedBytes = new HaltedBytes(getEntriesAfterCheckpoint(stored), options.maxHaltedBytes);
    this.#heldRows = new HeldRows(
      this.lanes.all.flatMap(({ order }) => order.holds ?? []),
      (logs, operations) => ({
        obstacle: this.#findObstacle(logs),
        awaitedSites: this.#findAwaitedSites(operations),
      }),
      (held) => options.observer?.onRowsHeld?.(held),
    );
    const site = {
      get waitingBytes() {
        return replica.blue.streams.waitingBytes;
      },
      refuseUpdates: (reason: CorrectableError) => {
        replica.writes.rejection = reason;
      },
    };
    for (const lane of this.lanes) {
      const { partition, order } = lane;
      const saved = shared && getSavedLog(shared, partition);
      const node = createRedLog(engine, options, partition, {
        stored: getRecoveredRed(stored, partition),
        saved,
        provenCount: replica.getProvenRedCount(partition),
        origins: order.members,
        members: parts.getMembers(order.members),
      });
      const consumer = parts.createReader(node, saved);
      const name = partition === 0 ? undefined : getLogName(options, partition);
      const intake = new RedIntake(consumer, this.#haltedBytes, site, lane.admission, name);
      lane.open({ node, intake, reach: this.#createReach(options, lane) });
    }
    for (const lane of this.lanes) this.#open(options, lane);
  }

  // These are called after every input. They are loops, because callbacks would be allocated at
  // each call.

  get isBusy(): boolean {
    for (const { node } of this.lanes.all) if (node.isBusy) return true;
    return this.#heldRows.isAny;
  }

  get wakeAtMs(): number {
    let atMs = Infinity;
    for (const { node } of this.lanes.all) {
      const { wakeAtMs } = node;
      if (wakeAtMs !== undefined && wakeAtMs < atMs) atMs = wakeAtMs;
    }
    return atMs;
  }

  /** The greatest number of entries that a log keeps for other sites. */
  get backlogLength(): number {
    let most = 0;
    for (const { node } of this.lanes.all) most = Math.max(most, node.backlogLength);
    return most;
  }

  /** Whether the site keeps as much as it may for logs that have halted. */
  get isFull(): boolean {
    return this.#haltedBytes.isFull;
  }

  /** The halt of the first log that has halted. */
  get halt(): RedHalt | undefined {
    return this.lanes.all.find(({ intake }) => intake.halt !== undefined)?.intake.halt;
  }

  /** Returns the halts that are new. The site has to report them. */
  takeNewHalts(): readonly RedHalt[] {
    return this.lanes.all.flatMap(({ intake }) => intake.takeNewHalt() ?? []);
  }

  /** Returns the places in all logs from which on entries are needed. */
  addRetainedFrom(positions: LogCounts): LogCounts {
    for (const { partition, node } of this.lanes)
      positions[getRedKind(partition)] = node.retainedFrom;
    return positions;
  }

  /** The end of the copy of a log, unless the log has halted here. */
  getEnd(log: Origin): StreamPoint | undefined {
    const lane = this.#laneOf(log);
    return lane?.intake.halt === undefined ? lane?.node.end : undefined;
  }

  getDigest(log: Origin, length: number): number | undefined {
    return this.#laneOf(log)?.node.digest(length);
  }

  #laneOf(log: Origin): Lane | undefined {
    return this.lanes.all[this.#origins.logs.indexOf(log)];
  }

  tick(nowMs: number): void {
    for (const { partition, node } of this.lanes) {
      node.tick(nowMs);
      if (this.#replica.waitsForRed(partition)) node.catchUp?.(nowMs);
    }
    for (const { reach } of this.lanes) reach.tick(nowMs);
    this.#heldRows.tick(nowMs);
  }

  noteTime(nowMs: number): void {
    for (const { reach } of this.lanes.all) reach.note(nowMs);
  }

  noteHeard(from: Origin, nowMs: number): void {
    for (const { reach } of this.lanes.all) reach.noteHeard(from, nowMs);
    this.#noteOut();
  }

  setConnected(site: Origin, isConnected: boolean, nowMs: number): void {
    for (const { reach } of this.lanes) reach.setConnected(site, isConnected, nowMs);
    this.#noteOut();
  }

  #noteOut(): void {
    this.isAnyOut = false;
    for (const { reach } of this.lanes.all)
      if (reach.outSinceMs !== undefined) this.isAnyOut = true;
  }

  /** Returns what the red operations of each log wait for, if they do. */
  findProblems(nowMs: number): readonly (string | undefined)[] {
    return this.lanes.all.map(({ reach }) => reach.findProblem(nowMs));
  }

  /** Returns why one of the logs orders nothing, if this site knows it. */
  #findObstacle(logs: readonly number[]): string | undefined {
    for (const log of logs) {
      const { intake, reach } = this.lanes.at(log);
      const problem = reach.findProblem(this.#replica.nowMs);
      if (problem !== undefined)
        return `waits for ${problem}. Start what it waits for, or restore the red log`;
      if (intake.halt !== undefined) return 'has halted here. Follow the alarm about that';
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

  /** Entries are appended to any log of the site. */
  onAppended(entries: readonly unknown[]): void {
    if (!this.#haltedBytes.hasBegun) return;
    this.#haltedBytes.addWritten(entries);
    for (const { intake } of this.lanes) intake.refuseIfFull();
  }

  onCheckpointed(): void {
    this.#haltedBytes.onCheckpointed();
  }

  /**
   * Appends the opening of a log that lacks confirmed records, if this site leads it and has
   * appended nothing to it yet.
   */
  #open(options: SiteOptions, { partition, node }: Lane): void {
    const { leader, opening } = getRedLogPlace(options, partition);
    const mustOpen =
      opening !== undefined && leader === options.site && node.end?.length === opening.length;
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
    node.propose(record, nowMs);
  }

  #createReach(options: SiteOptions, { partition, admission }: Lane): RedReach {
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
        admission,
        endWaiting: (endsProposed) => red.endWaiting(endsProposed, partition),
      },
    );
  }
}
