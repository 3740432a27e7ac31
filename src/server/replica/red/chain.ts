/**
 * Own red operations that are proposed and not decided, laid under the runs of later ones, so that a row that many of one
 * site write does not cost a round trip each: a later one runs on the stable snapshot with them, names those of them whose
 * effects it may have read, and commits only behind these (docs/spec/redblue.md, R10 to R13).
 *
 * What lies under a run is laid over the snapshot as if it came last. That is so where nobody else has touched it since it
 * was executed; where somebody has, it is for its place in the log to say what it does, and who reads it waits for that.
 */
import { Fifo } from '../../collections/fifo.ts';
import type { Effect } from '../../records/effect.ts';
import type { Overlay } from '../../state/overlay.ts';
import type { ReadRange } from '../../records/key-range.ts';
import { isSeenInRange, rowName, writtenNames, type ReadSet } from '../../generator/read-set.ts';
import type { Execution, RedOperation } from '../../records/records.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import type { Laid, RedRequest, Trace } from './red-requests.ts';
import { isRemoval, isWholeRow } from '../../service/row-effects.ts';
import { isRedOnlyField, type Tables } from '../../service/tables.ts';

/** Own undecided operations that may lie under a run, among what it reads. */
export const CHAIN_MAX = 64;

const NONE: readonly Laid[] = [];

/** The proposed operations of one site, in the order of their proposals. */
export class Chain {
  readonly #core: Pick<ReplicaCore, 'state' | 'rights'>;
  readonly #tables: Tables;
  readonly #laid = new Fifo<Laid>();
  /** Whether their effects are on the overlay: from the first time that somebody stands on one until there are none. */
  #isShown = false;

  constructor(core: Pick<ReplicaCore, 'state' | 'rights' | 'options'>) {
    this.#core = core;
    this.#tables = core.options.service.tables;
  }

  get isEmpty(): boolean {
    return this.#laid.size === 0;
  }

  /** Adds what was executed last; what changes nothing lies under nobody. */
  lay(request: RedRequest, { attempt, effects, created }: RedOperation, after: readonly Laid[]): void {
    if (effects.length === 0) return;
    const { version } = this.#core.state;
    const laid: Laid = {
      request,
      attempt,
      effects,
      created,
      trace: undefined,
      after,
      standing: 0,
      version,
      isMoved: false,
      isGone: false,
    };
    request.laid = laid;
    for (const below of after) below.standing += 1;
    this.#laid.push(laid);
    if (this.#isShown) this.#overlay.add(request.submission.serial, effects);
  }

  /** Shows the effects of all of them, from now on. */
  show(): void {
    if (this.#isShown) return;
    this.#isShown = true;
    const { version } = this.#core.state;
    for (const laid of this.#present()) {
      this.#overlay.add(laid.request.submission.serial, laid.effects);
      // Nobody has looked at what came since.
      if (laid.version !== version) this.move(laid);
    }
  }

  /** Those whose effects a run with these reads may have seen, in order. */
  under({ names, ranges }: ReadSet): Laid[] {
    return this.#present().filter((laid) => {
      const { created, written } = this.#traceOf(laid);
      const isSeen = (range: ReadRange): boolean =>
        laid.effects.some((effect) => isSeenInRange(range, effect, created));
      return anyOf(names, written) || ranges.some(isSeen);
    });
  }

  /** What has to be named so that all of `under` are: those on which no other stands. */
  named(under: readonly Laid[]): readonly Laid[] {
    const below = new Set<Laid>();
    const named: Laid[] = [];
    for (const laid of under.toReversed()) {
      if (!below.has(laid)) named.push(laid);
      addBelow(laid, below);
    }
    return named.toReversed();
  }

  /** The record of the request has committed: its effects go on the state now. */
  settle({ laid }: RedRequest): void {
    if (laid !== undefined) this.#take(laid);
  }

  /** The record of the request will not commit, and none that stands on it: says how many those are. */
  forsake({ laid }: RedRequest): number {
    if (laid === undefined) return 0;
    const { standing } = laid;
    this.#drop(laid);
    if (standing === 0) return 0;
    const lost = new Set([laid]);
    for (const each of this.#present()) {
      if (!each.isGone && each.after.some((below) => lost.has(below))) {
        lost.add(each);
        this.#drop(each);
      }
    }
    return lost.size - 1;
  }

  /** Others have changed something: a blue operation, or a red one that is not laid. */
  onChanged(effects: readonly Effect[]): void {
    if (!this.#isShown) return;
    for (const effect of effects) {
      if (!this.#overlay.covers(effect.table, effect.key) || this.#isIndifferent(effect)) continue;
      for (const laid of this.#present()) if (this.#touches(laid, effect)) this.move(laid);
    }
  }

  protected move(laid: Laid): void {
    laid.isMoved = true;
  }

  /**
   * Whether what is laid over the effect shows the same as if it came behind it: where only the red order counts, and
   * with additions to counters between which no removal comes.
   */
  #isIndifferent(effect: Effect): boolean {
    const { removable, fields } = this.#tables[effect.table] ?? {};
    if (isWholeRow(effect)) return false;
    const field = fields?.[effect.field];
    return isRedOnlyField(field) || (removable === false && field?.kind === 'counter');
  }

  #touches({ effects }: Laid, { table, key, field }: Effect): boolean {
    const isWhole = this.#tables[table]?.removable === true;
    return effects.some((each) => each.table === table && each.key === key && (isWhole || each.field === field));
  }

  /** Where rows can be removed, one that was there may be gone below. Most are never asked. */
  #traceOf(laid: Laid): Trace {
    if (laid.trace !== undefined) return laid.trace;
    const created = new Set(laid.created);
    for (const effect of laid.effects) {
      const { table, key } = effect;
      if (this.#tables[table]?.removable === true && !isRemoval(effect)) created.add(rowName(table, key));
    }
    laid.trace = { created, written: new Set(writtenNames(laid.effects, created)) };
    return laid.trace;
  }

  /** It will not be applied: what it was to take is there for who waits. */
  #drop(laid: Laid): void {
    this.#core.rights?.takenOff(laid.effects);
    this.#take(laid);
  }

  #take(laid: Laid): void {
    if (laid.isGone) return;
    laid.isGone = true;
    // Else a chain that never ends would be kept from its beginning.
    for (const below of laid.after) below.standing -= 1;
    laid.after = NONE;
    laid.request.laid = undefined;
    if (this.#isShown) this.#overlay.remove(laid.request.submission.serial, laid.effects);
    while (this.#laid.at(0)?.isGone === true) this.#laid.shift();
    // The first may be with an absent leader, and many after it be given up.
    this.#laid.keep(({ isGone }) => !isGone);
    if (this.isEmpty) this.#isShown = false;
  }

  #present(): Laid[] {
    return this.#laid.slice().filter(({ isGone }) => !isGone);
  }

  get #overlay(): Overlay {
    return this.#core.state.laid;
  }
}

/** The executions, as records name them. */
export function executionsOf(laid: readonly Laid[]): readonly Execution[] {
  return laid.map(({ request, attempt }) => [request.id, attempt]);
}

function addBelow(laid: Laid, below: Set<Laid>): void {
  const open = [laid];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const each of next.after) {
      if (below.has(each)) continue;
      below.add(each);
      open.push(each);
    }
  }
}

function anyOf(names: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  const [few, many] = names.size < others.size ? [names, others] : [others, names];
  for (const name of few) if (many.has(name)) return true;
  return false;
}
