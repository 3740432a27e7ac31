/**
 * Own red operations that are proposed and not decided. Later operations of the site run on top of
 * them, so a row that many of them write does not cost a round trip each. A later one names the
 * operations whose effects it may have read, and commits only behind these (docs/spec/redblue.md,
 * RB-R10 to RB-R13).
 *
 * A run sees these effects as if they came last. That holds if no other operation has changed the
 * same data since. Otherwise the position in the log decides, and an operation that reads them
 * waits.
 */
import { Fifo } from '../../../service/collections/fifo.ts';
import { type Effect, isRemoval, isWholeRow } from '../../../service/records/effect.ts';
import type { Overlay } from '../../../service/state/overlay.ts';
import type { ReadRange } from '../../../service/records/read-range.ts';
import {
  isSeenInRange,
  toRowName,
  findWrittenNames,
  type ReadSet,
} from '../../../service/generator/read-set.ts';
import type { Execution, RedOperation } from '../../../service/records/records.ts';
import type { SiteCore } from '../../core/site-core.ts';
import type { PipelinedOperation, RedRequest, EffectTrace } from './red-requests.ts';
import { isRedOnlyField, type Tables } from '../../../service/tables.ts';

/** The maximum of own undecided operations that another one may depend on. */
export const MAX_PIPELINE_LENGTH = 64;

const NO_OPERATIONS: readonly PipelinedOperation[] = [];

/** The proposed operations of one site, in the order of their proposals. */
export class Pipeline {
  readonly #core: SiteCore;
  readonly #tables: Tables;
  readonly #operations = new Fifo<PipelinedOperation>();
  /**
   * Whether their effects are on the overlay. They are from the first run on top of one until none
   * is left.
   */
  #isShown = false;

  constructor(core: SiteCore) {
    this.#core = core;
    this.#tables = core.options.service.tables;
  }

  get isEmpty(): boolean {
    return this.#operations.size === 0;
  }

  /** Adds the latest execution. No other can depend on one without effects. */
  add(
    request: RedRequest,
    { attempt, effects, created }: RedOperation,
    dependencies: readonly PipelinedOperation[],
  ): void {
    if (effects.length === 0) return;
    const { version } = this.#core.state;
    const overlaid: PipelinedOperation = {
      request,
      attempt,
      effects,
      created,
      trace: undefined,
      dependencies,
      dependentCount: 0,
      version,
      hasStateChanged: false,
      isDropped: false,
    };
    request.pipelined = overlaid;
    for (const below of dependencies) below.dependentCount += 1;
    this.#operations.push(overlaid);
    if (this.#isShown) this.#overlay.add(request.submission.serial, effects);
  }

  show(): void {
    if (this.#isShown) return;
    this.#isShown = true;
    const { version } = this.#core.state;
    for (const overlaid of this.#present()) {
      this.#overlay.add(overlaid.request.submission.serial, overlaid.effects);
      // No operation has read its effects since the change.
      if (overlaid.version !== version) this.move(overlaid);
    }
  }

  /** Returns the operations whose effects a run with these reads may have seen, in order. */
  getDependencies({ names, ranges }: ReadSet): PipelinedOperation[] {
    return this.#present().filter((overlaid) => {
      const { created, written } = this.#getTrace(overlaid);
      const isSeen = (range: ReadRange): boolean =>
        overlaid.effects.some((effect) => isSeenInRange(range, effect, created));
      return hasAny(names, written) || ranges.some(isSeen);
    });
  }

  /** Returns those of `under` on which no other depends. A record that names them names all. */
  getDirectDependencies(under: readonly PipelinedOperation[]): readonly PipelinedOperation[] {
    const below = new Set<PipelinedOperation>();
    const named: PipelinedOperation[] = [];
    for (const overlaid of under.toReversed()) {
      if (!below.has(overlaid)) named.push(overlaid);
      addDependencies(overlaid, below);
    }
    return named.toReversed();
  }

  /** The record of the request has committed: its effects are applied next. */
  onCommitted({ pipelined }: RedRequest): void {
    if (pipelined !== undefined) this.#take(pipelined);
  }

  /**
   * The record of the request will not commit, and none that depends on it. Returns the number of
   * those.
   */
  onNotCommitted({ pipelined }: RedRequest): number {
    if (pipelined === undefined) return 0;
    const { dependentCount } = pipelined;
    this.#drop(pipelined);
    if (dependentCount === 0) return 0;
    const lost = new Set([pipelined]);
    for (const item of this.#present()) {
      if (!item.isDropped && item.dependencies.some((below) => lost.has(below))) {
        lost.add(item);
        this.#drop(item);
      }
    }
    return lost.size - 1;
  }

  /**
   * Another operation has changed something: a blue one, or a red one that is not in the pipeline.
   */
  onChanged(effects: readonly Effect[]): void {
    if (!this.#isShown) return;
    for (const effect of effects) {
      if (!this.#overlay.covers(effect.table, effect.key) || this.#commutesWith(effect)) continue;
      for (const overlaid of this.#present())
        if (this.#touches(overlaid, effect)) this.move(overlaid);
    }
  }

  move(overlaid: PipelinedOperation): void {
    overlaid.hasStateChanged = true;
  }

  /**
   * Whether the result is the same if the effect comes before or after the effects on the overlay.
   */
  #commutesWith(effect: Effect): boolean {
    const { removable, fields } = this.#tables[effect.table] ?? {};
    if (isWholeRow(effect)) return false;
    const field = fields?.[effect.field];
    return isRedOnlyField(field) || (removable === false && field?.kind === 'counter');
  }

  #touches({ effects }: PipelinedOperation, { table, key, field }: Effect): boolean {
    const isWhole = this.#tables[table]?.removable === true;
    return effects.some(
      (item) => item.table === table && item.key === key && (isWhole || item.field === field),
    );
  }

  /**
   * Returns the names by which others see the operation. If rows can be removed, one that existed
   * may be removed below. The names are created at the first use, since most are never needed.
   */
  #getTrace(overlaid: PipelinedOperation): EffectTrace {
    if (overlaid.trace !== undefined) return overlaid.trace;
    const created = new Set(overlaid.created);
    for (const effect of overlaid.effects) {
      const { table, key } = effect;
      if (this.#tables[table]?.removable === true && !isRemoval(effect))
        created.add(toRowName(table, key));
    }
    overlaid.trace = {
      created,
      written: new Set(findWrittenNames(overlaid.effects, created)),
    };
    return overlaid.trace;
  }

  /**
   * The operation will not be applied. What it would have taken is left for operations that wait.
   */
  #drop(overlaid: PipelinedOperation): void {
    this.#core.rights?.onRedRemoved(overlaid.effects);
    this.#take(overlaid);
  }

  #take(overlaid: PipelinedOperation): void {
    if (overlaid.isDropped) return;
    overlaid.isDropped = true;
    // Otherwise a chain that never ends would keep all of its operations in memory.
    for (const below of overlaid.dependencies) below.dependentCount -= 1;
    overlaid.dependencies = NO_OPERATIONS;
    overlaid.request.pipelined = undefined;
    if (this.#isShown) this.#overlay.remove(overlaid.request.submission.serial, overlaid.effects);
    while (this.#operations.at(0)?.isDropped === true) this.#operations.shift();
    // The first one may wait for an absent leader, while many after it are given up.
    this.#operations.filter(({ isDropped }) => !isDropped);
    if (this.isEmpty) this.#isShown = false;
  }

  #present(): PipelinedOperation[] {
    return this.#operations.slice().filter(({ isDropped }) => !isDropped);
  }

  get #overlay(): Overlay {
    return this.#core.state.pipelined;
  }
}

export function getExecutions(overlaid: readonly PipelinedOperation[]): readonly Execution[] {
  return overlaid.map(({ request, attempt }) => [request.id, attempt]);
}

function addDependencies(overlaid: PipelinedOperation, below: Set<PipelinedOperation>): void {
  const open = [overlaid];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const item of next.dependencies) {
      if (below.has(item)) continue;
      below.add(item);
      open.push(item);
    }
  }
}

function hasAny(names: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  const [few, many] = names.size < others.size ? [names, others] : [others, names];
  for (const name of few) if (many.has(name)) return true;
  return false;
}
