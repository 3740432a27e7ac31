/**
 * The executions of globals that a coordinator has to look at: those of which a log has delivered
 * something, and those for which the site has got as far as they wait for. All others would propose
 * nothing. So the cost of a record does not grow with the number of holds that stand.
 */
import { MinHeap } from '../../../service/collections/min-heap.ts';
import type { ExecutionName } from '../../../service/records/records.ts';
import type { Vector } from '../../../service/records/vector.ts';

/** What an execution waits for. Each of them holds for ever once it holds. */
export type Awaited =
  /** A time at which this site helps. */
  | { readonly kind: 'time'; readonly atMs: number }
  /** The stamp of a partition's log is applied here. */
  | {
      readonly kind: 'applied';
      readonly partition: number;
      readonly stamp: number;
    }
  /** The site shows the stamp of an origin. */
  | { readonly kind: 'shown'; readonly origin: number; readonly stamp: number }
  /**
   * Another site has the own blue operations of the snapshot, whose stamp of this site is given.
   */
  | {
      readonly kind: 'durable';
      readonly snapshot: Vector;
      readonly stamp: number;
    };

/** How far a site has got with what executions wait for. */
export interface AwaitedProgress {
  readonly nowMs: number;
  /** Whether the stamp of a partition's log is applied here. */
  isApplied(partition: number, stamp: number): boolean;
  /** Whether another site has the own blue operations of the snapshot. */
  isDurable(snapshot: Vector): boolean;
  /** The stamp up to which the site shows an origin. */
  getStamp(origin: number): number;
  /**
   * Whether a hold may be appended now: the log is not halted or overloaded, and its leader was
   * heard lately.
   */
  isReachable(partition: number): boolean;
}

interface Waiter {
  readonly execution: ExecutionName;
  readonly awaited: Awaited;
}

export class DueExecutions {
  #due = new Set<ExecutionName>();
  /** What each execution waits for. Waiters in queues may be older. */
  readonly #waiters = new Map<ExecutionName, Waiter>();
  readonly #times = new MinHeap<Waiter>();
  readonly #durable = new MinHeap<Waiter>();
  /** By the ordinal of the partition. */
  readonly #applied = new Map<number, MinHeap<Waiter>>();
  /** By the ordinal of the origin. */
  readonly #shown = new Map<number, MinHeap<Waiter>>();
  /** By partition: executions that begin once its log can be reached. */
  readonly #unreached = new Map<number, Set<ExecutionName>>();

  /** The first time for which one waits; `undefined` if there is none. */
  get wakeAtMs(): number | undefined {
    for (let first = this.#times.first; first; first = this.#times.first) {
      if (this.#isWaiting(first)) return this.#times.firstKey;
      this.#times.shift();
    }
    return undefined;
  }

  add(execution: ExecutionName): void {
    this.#due.add(execution);
  }

  /** Takes the executions to look at now. */
  take(progress: AwaitedProgress): Iterable<ExecutionName> {
    this.#addReached(progress);
    if (this.#due.size === 0) return [];
    const due = this.#due;
    this.#due = new Set();
    for (const execution of due) this.#waiters.delete(execution);
    return due;
  }

  /** Looks at the execution again once it has what it waits for. */
  waitFor(execution: ExecutionName, awaited: Awaited): void {
    const waiter = { execution, awaited };
    this.#waiters.set(execution, waiter);
    switch (awaited.kind) {
      case 'time':
        return this.#times.push(awaited.atMs, waiter);
      case 'durable':
        return this.#durable.push(awaited.stamp, waiter);
      case 'applied':
        return pushTo(this.#applied, awaited.partition, waiter, awaited.stamp);
      case 'shown':
        return pushTo(this.#shown, awaited.origin, waiter, awaited.stamp);
    }
  }

  /** Looks at the execution again once the log can be reached. */
  waitForLog(execution: ExecutionName, partition: number): void {
    const waiting = this.#unreached.get(partition);
    if (waiting === undefined) this.#unreached.set(partition, new Set([execution]));
    else waiting.add(execution);
  }

  /** The execution has ended here. */
  forget(execution: ExecutionName): void {
    this.#waiters.delete(execution);
    for (const executions of this.#unreached.values()) executions.delete(execution);
  }

  #addReached(progress: AwaitedProgress): void {
    this.#addFrom(
      this.#times,
      ({ awaited }) => awaited.kind === 'time' && awaited.atMs <= progress.nowMs,
    );
    this.#addFrom(
      this.#durable,
      ({ awaited }) => awaited.kind === 'durable' && progress.isDurable(awaited.snapshot),
    );
    for (const [partition, heap] of this.#applied)
      this.#addFrom(
        heap,
        ({ awaited }) => awaited.kind === 'applied' && progress.isApplied(partition, awaited.stamp),
      );
    for (const [origin, heap] of this.#shown)
      this.#addFrom(
        heap,
        ({ awaited }) => awaited.kind === 'shown' && awaited.stamp <= progress.getStamp(origin),
      );
    for (const [partition, executions] of this.#unreached) {
      if (!progress.isReachable(partition)) continue;
      this.#unreached.delete(partition);
      for (const execution of executions) this.#due.add(execution);
    }
  }

  #addFrom(heap: MinHeap<Waiter>, isReached: (waiter: Waiter) => boolean): void {
    for (
      let first = heap.first;
      first !== undefined && (!this.#isWaiting(first) || isReached(first));
      first = heap.first
    ) {
      heap.shift();
      if (this.#isWaiting(first)) this.#due.add(first.execution);
    }
  }

  #isWaiting(waiter: Waiter): boolean {
    return this.#waiters.get(waiter.execution) === waiter;
  }
}

function pushTo(
  heaps: Map<number, MinHeap<Waiter>>,
  key: number,
  waiter: Waiter,
  stamp: number,
): void {
  const heap = heaps.get(key) ?? new MinHeap<Waiter>();
  heaps.set(key, heap);
  heap.push(stamp, waiter);
}
