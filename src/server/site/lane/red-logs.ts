/** Opens the red log of each lane of a site, and hands on to all of them what concerns all. */
import type { CorrectableError } from '../../../correctable/errors.ts';
import { getRedKind } from '../../log/local-log.ts';
import type { LogCounts } from '../../log/log-positions.ts';
import type { RedHalt, RedLogConsumer } from '../../log/red-log-consumer.ts';
import type { RedLogEngine } from '../../log/red-log-engine.ts';
import type { LogMembers, LogOutput, RedLog, SavedLog } from '../../log/red-log.ts';
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
import type { ReadyBuilder } from '../ready.ts';
import type { WholeSite } from '../whole-site.ts';
import type { SiteMessage } from '../wire/envelope.ts';
import { createRedLog, getRedLogPlace, type SiteOptions } from '../site-options.ts';
import { HeldRows } from './held-rows.ts';

/** Returns the name of a partition. */
function getLogName({ origins }: SiteOptions, partition: number): string {
  const log = origins.logs[partition];
  return partition === 0 || log === undefined ? 'main' : origins.getName(log);
}

/** What red logs lead to at their site. */
export interface RedLogPort {
  /** Takes records that come next in the log of a lane. */
  deliver(records: readonly RedRecord[], lane: Lane): void;
  send(to: Origin, message: SiteMessage, partition: number): void;
  /** A newer version is in force than the one that the site runs. */
  onOutdated(problem: string): void;
  /** The site lacks something that no other site keeps for it any more. */
  noteBehind(lacking: string): void;
  /** The log of another origin differs between two sites. */
  noteFork(origin: Origin, message: string): void;
}

/** What a site begins its red logs with. */
export interface RedLogParts {
  readonly engine: RedLogEngine;
  readonly options: SiteOptions;
  readonly stored: RecoveredState;
  /** Returns who gets a log, from the members as that log has them. */
  getMembers(origins: Origins): LogMembers;
  readonly site: WholeSite;
  readonly outputs: ReadyBuilder;
  readonly port: RedLogPort;
  /** By partition: records of its red log that are known to be committed since before the start. */
  readonly provenCounts: readonly number[];
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
  readonly #site: WholeSite;
  readonly #outputs: ReadyBuilder;
  readonly #port: RedLogPort;
  readonly #origins: Origins;

  constructor(parts: RedLogParts) {
    const { options, site, stored, engine } = parts;
    this.#site = site;
    this.#outputs = parts.outputs;
    this.#port = parts.port;
    this.#origins = options.origins;
    this.lanes = site.red.lanes;
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
    const halting = {
      get waitingBytes() {
        return site.blue.streams.waitingBytes;
      },
      refuseUpdates: (reason: CorrectableError) => {
        site.writes.rejection = reason;
      },
    };
    for (const lane of this.lanes) {
      const { partition, order } = lane;
      const saved = shared && getSavedLog(shared, partition);
      const node = createRedLog(engine, options, partition, {
        stored: getRecoveredRed(stored, partition),
        saved,
        provenCount: parts.provenCounts[partition] ?? 0,
        origins: order.members,
        members: parts.getMembers(order.members),
      });
      const consumer = parts.createReader(node, saved);
      const name = partition === 0 ? undefined : getLogName(options, partition);
      const intake = new RedIntake(consumer, this.#haltedBytes, halting, lane.admission, name);
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

  /** Reports the halts that are new. */
  reportHalts(): void {
    for (const { intake } of this.lanes.all) {
      const halt = intake.takeNewHalt();
      if (halt !== undefined) this.#outputs.notify({ kind: 'halted', halt });
    }
  }

  /** Does what the logs have put out. Returns whether that was anything. */
  handOver(): boolean {
    let hasOutputs = false;
    for (const lane of this.lanes.all) {
      const outputs = lane.node.takeOutputs();
      for (const output of outputs) this.#onOutput(output, lane);
      if (outputs.length > 0) hasOutputs = true;
    }
    return hasOutputs;
  }

  #onOutput(output: LogOutput<RedRecord>, lane: Lane): void {
    const { intake, partition } = lane;
    switch (output.kind) {
      case 'deliver':
        return this.#deliver(intake.take(output), lane);
      case 'store':
        return this.#outputs.appendTo(getRedKind(partition), output.entries);
      case 'send':
        return this.#port.send(output.to, output.message, partition);
      case 'gap':
      case 'regressed':
      case 'differs':
        intake.stop({ reason: output.kind, message: output.message });
        return this.reportHalts();
      case 'outdated':
        return this.#port.onOutdated(output.message);
      case 'behind':
        return this.#port.noteBehind('entries of the red log');
      case 'fork':
        return this.#port.noteFork(output.origin, output.message);
      case 'full':
        intake.noteFull(output.message);
        return this.#outputs.notify(output);
      case 'request':
        return this.#outputs.request({ partition, request: output.request });
      case 'unavailable':
      case 'available':
        return this.#outputs.notify(output);
    }
  }

  #deliver(records: readonly RedRecord[], lane: Lane): void {
    const problem = this.#site.activation.findProblem(records);
    if (problem !== undefined) return this.#port.onOutdated(problem);
    this.#port.deliver(records, lane);
    this.reportHalts();
  }

  /**
   * Whether each red log has the origin here. Behind that, all that the site of the origin lacks is
   * kept for it.
   */
  areAllWith(origin: Origin): boolean {
    return this.lanes.all.every(({ order }) => order.members.isSite(origin));
  }

  /**
   * The logs beside `main` in whose copies here this site has no vote yet. They may have been
   * confirmed without it.
   */
  get withoutVote(): readonly number[] {
    const { site } = this.#site.options;
    const isOpen = ({ order: { members } }: Lane): boolean =>
      members.isSite(site) && members.get(site).state === 'open';
    return this.lanes.all.flatMap((lane) =>
      lane.partition === 0 || isOpen(lane) ? [] : [lane.partition],
    );
  }

  /** Whether something here waits for operations of a red log that are not here. */
  #isAwaited({ order: { log } }: Lane): boolean {
    const { blue, red } = this.#site;
    return blue.waitsForLog(log) || red.waitsForLog(log);
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
    for (const lane of this.lanes) {
      const { node } = lane;
      node.tick(nowMs);
      if (this.#isAwaited(lane)) node.catchUp?.(nowMs);
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
      const problem = reach.findProblem(this.#site.nowMs);
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
    const { stable } = this.#site.state;
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
    const { clock, wallMs, nowMs } = this.#site;
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
    const { red, options: used } = this.#site;
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
