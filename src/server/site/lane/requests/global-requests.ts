/**
 * The globals of one site with several red logs: it gives the coordinator what passes the gates,
 * proposes what that returns, and lets requests wait that met a hold.
 */
import { Fifo } from '../../../service/collections/fifo.ts';
import { MinHeap } from '../../../service/collections/min-heap.ts';
import type { ReadSet } from '../../../service/generator/read-set.ts';
import type {
  CertificationDecision,
  HeldConflict,
} from '../../../service/records/certification-result.ts';
import type { SavedCommittedGlobal } from '../../../service/records/checkpoint.ts';
import { getExecutionName, isExecutionOf } from '../global-records.ts';
import type { Origin } from '../../../service/records/origin.ts';
import {
  getPartition,
  type BlueOperation,
  type ExecutionName,
  type GlobalOperation,
  type OperationId,
  type RedRecord,
} from '../../../service/records/records.ts';
import { getStampOf, isCovered, type Vector } from '../../../service/records/vector.ts';
import { isActingFor } from '../../core/acting-site.ts';
import type { SiteCore } from '../../core/site-core.ts';
import type { HoldTable } from '../order/hold-table.ts';
import type { RedOrder } from '../order/red-order.ts';
import {
  getRetryDelayMs,
  type GlobalCoordinator,
  type SiteProgress,
} from './global-coordinator.ts';
import { OpenHolds } from './open-holds.ts';
import type { Lanes } from '../lane.ts';
import type { RedRequest, StableRun } from './red-requests.ts';

const NO_REQUESTS: readonly RedRequest[] = [];

interface WaitingRequest {
  readonly request: RedRequest;
  /** The number of requests that had begun to wait before. */
  readonly order: number;
}

/** The place of an own blue operation in its stream, and its stamp. */
interface OwnBlue {
  readonly sequence: number;
  readonly stamp: number;
}

/** What goes on once a hold has ended, unless it was given up before. */
export interface HoldWaiter {
  isOver(): boolean;
  run(): void;
}

export class GlobalRequests implements SiteProgress {
  readonly #core: SiteCore;
  readonly #lanes: Lanes;
  readonly #coordinator: GlobalCoordinator;
  /** Refused requests, by the time at which they are executed again. */
  readonly #waiting = new MinHeap<WaitingRequest>();
  #waited = 0;
  /** The members when `act` was called last. Each change makes another list. */
  #members: readonly Origin[] = [];
  /** What waits for the end of a hold, by the execution that holds. */
  readonly #held = new Map<ExecutionName, Fifo<HoldWaiter>>();
  /** By partition: the holds that stand at the place of its gate. */
  readonly #open: readonly OpenHolds[];
  readonly #tables: readonly HoldTable[];
  readonly #ready: RedRequest[] = [];
  /** Own blue operations that no other site was known to have, in order. */
  readonly #undurable = new Fifo<OwnBlue>();

  constructor(
    core: SiteCore,
    tables: readonly HoldTable[],
    lanes: Lanes,
    Coordinator: typeof GlobalCoordinator,
  ) {
    this.#core = core;
    this.#lanes = lanes;
    this.#tables = tables;
    this.#open = tables.map((table) => new OpenHolds(table));
    const { site, resendAfterMs, windows } = core.options;
    const maxGlobals = windows?.maxGlobals;
    this.#coordinator = new Coordinator({ site, resendAfterMs, tables, maxGlobals });
  }

  get nowMs(): number {
    return this.#core.nowMs;
  }

  /** When `act` has something to do though nothing happens. */
  get wakeAtMs(): number | undefined {
    const acts = this.#coordinator.wakeAtMs;
    const retries = this.#waiting.firstKey;
    if (acts === undefined || retries === undefined) return acts ?? retries;
    return Math.min(acts, retries);
  }

  begin(record: GlobalOperation, request: RedRequest): void {
    request.record = record;
    request.isProposed = true;
    this.#coordinator.begin(record, request.refusals);
    this.act();
  }

  /**
   * Gives up a global of which nothing was proposed. Returns whether it is given up. If not, other
   * sites may finish it by its holds.
   */
  withdraw(record: GlobalOperation): boolean {
    return this.#coordinator.withdraw(record);
  }

  /**
   * A record has passed the gate of a log. Returns the own execution that has ended by it without
   * an effect.
   */
  onPassed(
    { partition }: RedOrder,
    record: RedRecord,
    decision: CertificationDecision,
  ): GlobalOperation | undefined {
    for (const [execution, operation] of listGranted(record, decision))
      this.#open[partition]?.add(execution, operation);
    if (decision.kind === 'release' && record.kind === 'release')
      this.#onReleased(partition, record.execution);
    return this.#coordinator.onDelivered(partition, record, decision);
  }

  /** Proposes what the logs need now. */
  act(): void {
    const { members } = this.#core.options.origins;
    if (members !== this.#members) this.#coordinator.touchAll();
    this.#members = members;
    for (const { record } of this.#coordinator.act(this)) this.#core.outputs.propose(record);
  }

  /**
   * Lets a request wait if its run overlaps a hold that stands: its record would be rejected. It
   * does so for a limited time, since a row may be held all the time. Returns whether it waits.
   */
  waitsForHold(
    request: RedRequest,
    { outcome, reads: { names, ranges }, others = [] }: StableRun,
  ): boolean {
    const effects = outcome.choice?.effects ?? [];
    const touched = { reads: names, ranges, effects };
    const { reachTimeoutMs } = this.#core.options;
    for (const partition of [request.partition, ...others]) {
      const held = this.#tables[partition]?.findOverlap(touched);
      if (held === undefined) continue;
      request.heldAtMs ??= this.nowMs;
      if (this.nowMs - request.heldAtMs >= reachTimeoutMs) return false;
      this.waitForRelease(request, held);
      return true;
    }
    return false;
  }

  /** A request goes on when this hold has ended. */
  waitForRelease(request: RedRequest, { execution }: HeldConflict): void {
    request.heldBy = execution;
    this.#runOnRelease(execution, {
      isOver: () => request.isOver,
      run: () => {
        request.heldBy = undefined;
        this.#ready.push(request);
      },
    });
  }

  /**
   * A strong read shows what is committed at its place. If it has read what a hold writes there, it
   * runs again at the end of that. Returns the execution that holds, if it waits for one.
   */
  readsHeld(partition: number, reads: ReadSet, waiter: HoldWaiter): ExecutionName | undefined {
    const execution = this.#open[partition]?.findWriter(reads);
    if (execution !== undefined) this.#runOnRelease(execution, waiter);
    return execution;
  }

  /** Whether a hold that stands at its place writes something of the reads. */
  isReadHeld(partition: number, reads: ReadSet): boolean {
    return this.#open[partition]?.findWriter(reads) !== undefined;
  }

  /** Whether the global of a hold that stands has rows of the partition. */
  concerns(execution: ExecutionName, partition: number): boolean {
    const operation = this.#tables
      .map(({ standing }) => standing.get(execution)?.operation)
      .find((item) => item !== undefined);
    return (
      operation !== undefined &&
      (getPartition(operation) === partition || operation.others.includes(partition))
    );
  }

  /**
   * The executions of this site whose holds stand. Some may be of an earlier start, and another
   * site may end those.
   */
  get ownHeld(): readonly ExecutionName[] {
    const { site } = this.#core.options;
    const names = this.#open.flatMap(({ executions }) => [...executions]);
    return names.filter((name) => isExecutionOf(site, name));
  }

  isHeld(execution: ExecutionName): boolean {
    return this.#open.some((open) => open.has(execution));
  }

  /** Whether holds of the operation stand. Any site may end its global. */
  hasHolds(id: OperationId): boolean {
    return this.#open.some((open) => open.hasOperation(id));
  }

  #runOnRelease(execution: ExecutionName, waiter: HoldWaiter): void {
    const held = this.#held.get(execution);
    // A hold stands for as long as the home of its global is away. What was given up meanwhile must
    // not be retained.
    held?.filter((item) => !item.isOver());
    if (held === undefined) this.#held.set(execution, new Fifo([waiter]));
    else held.push(waiter);
  }

  #onReleased(partition: number, execution: ExecutionName): void {
    this.#open[partition]?.delete(execution);
    const waiting = this.#held.get(execution)?.slice() ?? [];
    this.#held.delete(execution);
    for (const waiter of waiting) waiter.run();
  }

  /**
   * Two globals may refuse each other, so each waits for another time. That follows from their
   * names: a site has no randomness.
   */
  waitForRetry(request: RedRequest, operation: GlobalOperation): void {
    const { resendAfterMs } = this.#core.options;
    request.refusals += 1;
    const random = toFraction(getExecutionName(operation));
    const delayMs = getRetryDelayMs(request.refusals, resendAfterMs, random);
    const waiting = { request, order: this.#waited };
    this.#waited += 1;
    this.#waiting.push(this.nowMs + delayMs, waiting);
  }

  /** Takes the requests that may be executed again. */
  takeReady(): readonly RedRequest[] {
    this.#takeWaited();
    if (this.#ready.length === 0) return NO_REQUESTS;
    return this.#ready.splice(0).filter(({ isOver }) => !isOver);
  }

  /** In the order in which they began to wait. */
  #takeWaited(): void {
    const waited: WaitingRequest[] = [];
    while ((this.#waiting.firstKey ?? Infinity) <= this.nowMs)
      waited.push(this.#waiting.shift() as WaitingRequest);
    for (const { request } of waited.toSorted((a, b) => a.order - b.order))
      this.#ready.push(request);
  }

  save(): readonly SavedCommittedGlobal[] {
    return this.#coordinator.save();
  }

  /** Has to be called once the orders of all lanes are loaded. */
  load(saved: readonly SavedCommittedGlobal[]): void {
    this.#coordinator.load(saved);
    for (const { partition, order } of this.#lanes) {
      const open = this.#open[partition];
      const table = this.#tables[partition];
      if (open === undefined || table === undefined) continue;
      for (const [execution, { operation }] of table.standing) open.add(execution, operation);
      // The gate is behind the table.
      for (const { record, decision } of order.waiting.toReversed()) {
        for (const [execution] of listGranted(record, decision)) open.delete(execution);
        if (decision.kind === 'release' && record.kind === 'release')
          open.add(record.execution, undefined);
      }
    }
  }

  getStamp(origin: number): number {
    return this.#core.state.stable[origin] ?? 0;
  }

  getCoverage(snapshot: Vector): 'covered' | 'later' | 'never' {
    const { origins } = this.#core.options;
    const { finals } = origins;
    const isLost = snapshot.some((stamp, entry) => stamp > (finals?.[entry] ?? Infinity));
    if (isLost) return 'never';
    return isCovered(snapshot, this.#core.state.stable) ? 'covered' : 'later';
  }

  onBlueApplied({ site, sequence, vector }: BlueOperation): void {
    if (site !== this.#core.options.site) return;
    this.#dropDurable();
    this.#undurable.push({ sequence, stamp: getStampOf(vector, site) });
  }

  /**
   * Own blue operations that came after the snapshot do not count. Otherwise a site that makes them
   * all the time would never propose a global.
   */
  isDurable(snapshot: Vector): boolean {
    const { applied, durable } = this.#core.ownBlueProgress();
    this.#dropDurable();
    const stamp = getStampOf(snapshot, this.#core.options.site);
    const later = this.#undurable.findIndex((item) => item.stamp > stamp);
    const next = this.#undurable.at(later)?.sequence ?? applied + 1;
    return next - 1 <= durable;
  }

  #dropDurable(): void {
    const { durable } = this.#core.ownBlueProgress();
    while ((this.#undurable.first?.sequence ?? Infinity) <= durable) this.#undurable.shift();
  }

  isApplied(partition: number, stamp: number): boolean {
    const { options, state } = this.#core;
    const log = options.origins.logs[partition];
    return log !== undefined && (state.stable[log] ?? 0) >= stamp;
  }

  isLeader(partition: number): boolean {
    return isActingFor(this.#core.options, partition);
  }

  isReachable(partition: number): boolean {
    return this.#lanes.at(partition).admission.obstacle === undefined;
  }
}

/** Returns a number from 0 to 1 that follows from the text (FNV-1a). */
function toFraction(text: string): number {
  let hash = 0x811c_9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x0100_0193);
  return (hash >>> 0) / 2 ** 32;
}

/** Returns the executions whose holds stand from this record on. */
function listGranted(
  record: RedRecord,
  decision: CertificationDecision,
): readonly (readonly [ExecutionName, GlobalOperation])[] {
  if (decision.kind === 'grant' && record.kind === 'hold')
    return [[getExecutionName(record.operation), record.operation]];
  if (decision.kind !== 'open' || record.kind !== 'opening') return [];
  return record.holds
    .map(({ operation }) => [getExecutionName(operation), operation] as const)
    .filter(([execution]) => decision.restated.includes(execution));
}
