/**
 * Runs two sites that diverge, and then see each other's operations (RedBlue, OSDI 2012, §5.3).
 * Each operation must leave a valid state valid in any order, and all orders must lead to one
 * state. The first site's operation sees only the common past.
 */
import type { RowName, Effect } from '../service/records/effect.ts';
import type { Origin } from '../service/records/origin.ts';
import type { Choice } from '../service/records/reply.ts';
import { sumTakes } from '../service/bounded-takes.ts';
import type { AnalyzedService } from './analyzed-service.ts';
import { getChoice, type Interleaving, type StepResult, type Step } from './interleaving.ts';
import {
  HERE,
  AnalysisSite,
  StampGenerator,
  THERE,
  type InvariantViolation,
  type StampedShadow,
  type RowValue,
} from './analysis-site.ts';
import { findRestoredRow, type ChosenStep, type RestoredRow } from './find-restored-row.ts';
import type { SearchContext } from './search-context.ts';
import { structurallyEqual } from '../../correctable/structural-equality.ts';
import type { Store } from '../service/state/store.ts';

/** A row that differs at two sites which have seen the same operations. */
interface Difference {
  /** The row at the first site, which applied its own operation first. */
  readonly here: RowValue;
  readonly there: RowValue;
}

/**
 * Common to all violations: the shadow operation, and the simplest interleaving found that shows
 * it.
 */
interface ViolationWitness {
  readonly shadow: string;
  /** The operation that chose it, which is `here` of the interleaving. */
  readonly operation: string;
  readonly interleaving: Interleaving;
}

/**
 * A choice that makes a valid state invalid at its own site. The interleaving has no other site.
 */
type LocalViolation = ViolationWitness & {
  readonly kind: 'alone';
  readonly broken: InvariantViolation;
};

/**
 * `beside`: the choice makes the state invalid at a site that has applied concurrent operations. So
 * it is not invariant-safe (RedBlue, OSDI 2012, Definition 7). `differs`: it does not commute with
 * the operations of the other site. `takes` is whether these sites have used rights to bounded
 * fields.
 */
export type Violation =
  | LocalViolation
  | (ViolationWitness & {
      readonly kind: 'beside';
      readonly takes: boolean;
      readonly broken: InvariantViolation;
    })
  | (ViolationWitness & {
      readonly kind: 'differs';
      readonly takes: boolean;
      readonly difference: Difference;
    });

/** Returns whether a simpler run still shows the same violation. */
export function isSameViolation(a: Violation, b: Violation | undefined): boolean {
  if (b?.kind !== a.kind || b.shadow !== a.shadow || b.operation !== a.operation) return false;
  if (a.kind === 'differs' || b.kind === 'differs') return true;
  const tableOf = ({ isOfRow, rows }: InvariantViolation): string | undefined =>
    isOfRow ? rows[0]?.table : undefined;
  return a.broken.invariant === b.broken.invariant && tableOf(a.broken) === tableOf(b.broken);
}

export interface InterleavingResult {
  /**
   * The results of the generators, in the order of `past`, `here`, `there`, up to the end of the
   * run.
   */
  readonly results: readonly StepResult[];
  /** What the first site chose, if anything. */
  readonly localChoice: Choice | undefined;
  /** The shadow operations of the second site, beside which `here` was tried. */
  readonly concurrentShadows: readonly string[];
  readonly violation: Violation | undefined;
  /** A row that was removed and came back, if nothing else was found. */
  readonly restoredRow: RestoredRow | undefined;
}

/** Runs an interleaving. The result is the same each time. */
export function runInterleaving(
  workshop: SearchContext,
  interleaving: Interleaving,
): InterleavingResult {
  const run = new InterleavingRun(workshop, interleaving);
  const violation = run.runPast() ?? run.runLocal() ?? run.runRemote() ?? run.findDifference();
  return run.toResult(violation);
}

/** The first site after it has applied its own operation to the common past. */
interface FirstSite {
  readonly site: AnalysisSite;
  readonly chosen: Choice;
  readonly own: StampedShadow;
}

/**
 * One interleaving, step by step. Each step returns the violation that it reached, if any, and then
 * no step follows.
 */
class InterleavingRun {
  readonly #context: SearchContext;
  readonly #interleaving: Interleaving;
  readonly #results: StepResult[] = [];
  readonly #stamps = new StampGenerator();
  readonly #common: StampedShadow[] = [];
  /** This site runs the past too, until the first site diverges from it. */
  readonly #second: AnalysisSite;
  /**
   * Whether the second site's state is valid. If the initial state is invalid, an operation cannot
   * break it.
   */
  #isValid: boolean;
  #first: FirstSite | undefined;
  /**
   * The second site's operations that are concurrent with that of the first site, with their
   * stamps.
   */
  readonly #others: StampedShadow[] = [];
  readonly #otherSteps: ChosenStep[] = [];
  readonly #concurrentShadows: string[] = [];

  constructor(workshop: SearchContext, interleaving: Interleaving) {
    this.#context = workshop;
    this.#interleaving = interleaving;
    this.#second = new AnalysisSite(workshop);
    this.#isValid = this.#second.isValid;
  }

  toResult(violation: Violation | undefined): InterleavingResult {
    return {
      results: this.#results,
      localChoice: this.#first?.chosen,
      concurrentShadows: this.#concurrentShadows,
      violation,
      restoredRow: violation === undefined ? this.#findRestoredRow() : undefined,
    };
  }

  #findRestoredRow(): RestoredRow | undefined {
    if (this.#first === undefined || this.#otherSteps.length === 0) return undefined;
    return findRestoredRow({
      context: this.#context,
      common: this.#common,
      stamps: this.#stamps,
      here: this.#toChosenStep(this.#interleaving.here, this.#first.chosen),
      there: this.#otherSteps,
      merged: this.#second,
    });
  }

  #toChosenStep(step: Step, { shadow, color, effects }: Choice): ChosenStep {
    const declared = this.#context.service.getDeclaredColor(shadow, step.operation);
    return { step, shadow, color: color === 'red' ? color : declared, effects };
  }

  /** Runs the operations that both sites have seen. */
  runPast(): Violation | undefined {
    const { past } = this.#interleaving;
    for (const [at, step] of past.entries()) {
      const choice = this.#runStep(step);
      if (choice === undefined) continue;
      const operation = stampChoice(
        this.#context.service,
        step,
        choice,
        this.#stamps,
        getSite(step),
      );
      this.#common.push(operation);
      this.#second.apply(operation);
      const soFar = {
        past: past.slice(0, at),
        here: step,
        there: [],
        place: 0,
      };
      const violation = findLocalViolation(this.#second, choice, soFar);
      if (violation !== undefined && (this.#isValid || violation.broken.isOfRow)) return violation;
      this.#isValid = violation === undefined;
    }
    return undefined;
  }

  /** Runs the operation of the first site. */
  runLocal(): Violation | undefined {
    const { past, here, place } = this.#interleaving;
    const chosen = this.#runStep(here);
    if (chosen === undefined || !this.#isValid) return undefined;
    const own = {
      effects: chosen.effects,
      stamp: new StampGenerator(this.#stamps).createConcurrent(place),
    };
    const site = new AnalysisSite(this.#context, [...this.#common, own]);
    this.#first = { site, chosen, own };
    this.#second.reserve(chosen.effects);
    return findLocalViolation(site, chosen, {
      past,
      here,
      there: [],
      place: 0,
    });
  }

  /** Runs the operations of the second site, and applies them at the first. */
  runRemote(): Violation | undefined {
    if (this.#first === undefined) return undefined;
    const { past, there } = this.#interleaving;
    for (const [at, step] of there.entries()) {
      const choice = this.#runStep(step);
      if (choice === undefined) continue;
      const other = stampChoice(this.#context.service, step, choice, this.#stamps, THERE);
      this.#second.apply(other);
      const before = [...past, ...there.slice(0, at)];
      const alone = findLocalViolation(this.#second, choice, {
        past: before,
        here: step,
        there: [],
        place: 0,
      });
      if (alone !== undefined) return alone;
      this.#others.push(other);
      this.#otherSteps.push(this.#toChosenStep(step, choice));
      this.#concurrentShadows.push(choice.shadow);
      const violation = this.#findConcurrentViolation(this.#first, other, at);
      if (violation !== undefined) return violation;
    }
    return undefined;
  }

  /** Compares both states, after the second site has applied the first one's operation. */
  findDifference(): Violation | undefined {
    if (this.#first === undefined || this.#others.length === 0) return undefined;
    const { site: first, chosen, own } = this.#first;
    const second = this.#second;
    second.apply(own);
    if (isSameState(first.store, second.store)) return undefined;
    const effects = [...this.#common, own, ...this.#others].flatMap(
      (operation) => operation.effects,
    );
    const { table, key } = findDifferingRow(first.store, second.store, effects);
    const difference = {
      here: first.row(table, key),
      there: second.row(table, key),
    };
    const interleaving = this.#interleaving;
    const witness = {
      shadow: chosen.shadow,
      operation: interleaving.here.operation,
      interleaving,
    };
    return {
      kind: 'differs',
      ...witness,
      takes: this.#hasTakenRights,
      difference,
    };
  }

  /**
   * Checks the invariants at the first site only. Whether the operations commute is checked at the
   * end.
   */
  #findConcurrentViolation(
    { site, chosen }: FirstSite,
    other: StampedShadow,
    at: number,
  ): Violation | undefined {
    site.apply(other);
    const broken = site.findViolation([...chosen.effects, ...other.effects]);
    if (broken === undefined) return undefined;
    const { past, here, there, place } = this.#interleaving;
    const interleaving = { past, here, there: there.slice(0, at + 1), place };
    const witness = {
      shadow: chosen.shadow,
      operation: here.operation,
      interleaving,
    };
    return { kind: 'beside', ...witness, takes: this.#hasTakenRights, broken };
  }

  /**
   * Runs a step on the state of the second site. Returns its choice, unless the site has no rights
   * to it.
   */
  #runStep(step: Step): Choice | undefined {
    const came = this.#second.run(step);
    this.#results.push(came);
    const choice = getChoice(came);
    return choice !== undefined && this.#second.hasRightsFor(choice.effects) ? choice : undefined;
  }

  /** Whether the sites have used rights to bounded fields since they diverged. */
  get #hasTakenRights(): boolean {
    const apart = [
      ...(this.#first?.chosen.effects ?? []),
      ...this.#others.flatMap(({ effects }) => effects),
    ];
    return sumTakes(this.#context.service.tables, apart).length > 0;
  }
}

/** Returns the site of an operation. The past has operations of both sites. */
export function getSite({ serial }: Step): Origin {
  return serial % 2 === 0 ? HERE : THERE;
}

/** Stamps a choice with the next stamp of its site. */
export function stampChoice(
  judged: AnalyzedService,
  step: Step,
  choice: Choice,
  stamps: StampGenerator,
  site: Origin,
): StampedShadow {
  // A choice that can only be red counts as red.
  const isRed =
    choice.color === 'red' || judged.getDeclaredColor(choice.shadow, step.operation) === 'red';
  return { effects: choice.effects, stamp: stamps.next(site, isRed) };
}

function findLocalViolation(
  site: AnalysisSite,
  choice: Choice,
  interleaving: Interleaving,
): LocalViolation | undefined {
  const broken = site.findViolation(choice.effects);
  const { operation } = interleaving.here;
  return (
    broken && {
      kind: 'alone',
      shadow: choice.shadow,
      operation,
      interleaving,
      broken,
    }
  );
}

/**
 * Returns whether two states are equal, including what they remember of removed rows. Only then
 * have the sites converged.
 */
export function isSameState(a: Store, b: Store): boolean {
  return (
    structurallyEqual(a.snapshot(), b.snapshot()) &&
    structurallyEqual(a.getRemovalTimes(), b.getRemovalTimes())
  );
}

/**
 * Returns the first row of these effects in which two states differ. The caller knows that there is
 * one.
 */
export function findDifferingRow(a: Store, b: Store, effects: readonly Effect[]): RowName {
  const [rowsOfA, rowsOfB] = [readRows(a), readRows(b)];
  for (const { table, key } of effects) {
    const name = formatRowKey(table, key);
    if (!structurallyEqual(rowsOfA.get(name), rowsOfB.get(name))) return { table, key };
  }
  throw new Error('two states differ in no row that was written');
}

type Rows = readonly (readonly [
  table: string,
  rows: readonly (readonly [key: string, state: unknown])[],
])[];

function readRows(store: Store): ReadonlyMap<string, readonly unknown[]> {
  const rows = new Map<string, unknown[]>();
  for (const all of [store.snapshot() as Rows, store.getRemovalTimes() as Rows]) {
    for (const [table, ofTable] of all) {
      for (const [key, state] of ofTable) {
        const name = formatRowKey(table, key);
        rows.set(name, [...(rows.get(name) ?? []), state]);
      }
    }
  }
  return rows;
}

const formatRowKey = (table: string, key: string): string => JSON.stringify([table, key]);
