/**
 * Draws an interleaving of two sites, step by step. The common past grows until the wanted
 * operation chooses something.
 */
import type { Random } from '../service/collections/random.ts';
import type { Origin } from '../service/records/origin.ts';
import type { GeneratedArgs } from './values/argument-generator.ts';
import { ValuePool, type ValueScope } from './values/value-generator.ts';
import { stampChoice, getSite } from './run-interleaving.ts';
import { getChoice, type Interleaving, type StepResult, type Step } from './interleaving.ts';
import { AnalysisSite, StampGenerator, THERE } from './analysis-site.ts';
import type { SearchContext } from './search-context.ts';

export interface InterleavingConstraints {
  readonly random: Random;
  readonly scope: ValueScope;
  /** The operation of the first site, and the first one of the second. */
  readonly here: string;
  readonly there: string;
}

/** A step that was run while it was drawn. */
export interface GeneratedStep {
  readonly step: Step;
  readonly result: StepResult;
}

export interface GeneratedInterleaving extends TriedSteps {
  /** `undefined` if the first site never chose anything. */
  readonly interleaving: Interleaving | undefined;
  /** The results of the interleaving's steps, in the order of `past`, `here`, `there`. */
  readonly results: readonly StepResult[];
  /** Operations for which no arguments were found that the contract accepts. */
  readonly operationsWithoutArgs: readonly string[];
}

/** The steps that were tried, and the state after them. */
export interface TriedSteps {
  /** All steps that were run. Those that chose nothing are not in the interleaving. */
  readonly triedSteps: readonly GeneratedStep[];
  readonly pool: ValuePool;
  /** The site at the end. */
  readonly site: AnalysisSite;
}

/**
 * How often the operation of the first site is tried while the past grows, and those of the second.
 */
const MAX_LOCAL_TRIES = 8;
const MAX_REMOTE_TRIES = 3;
const MAX_REMOTE_STEPS = 3;

/** The maximum number of effects of an operation whose values are used to draw later arguments. */
const MAX_NOTED_EFFECTS = 32;

/**
 * The start of the runs, a time in 2026. The next constant is how much later an operation may come:
 * up to an hour, a day, a month, a year.
 */
export const EPOCH_MS = 1_767_225_600_000;
const STEP_DELAYS_MS = [0, 1, 1000, 3_600_000, 86_400_000, 3_000_000_000, 40_000_000_000] as const;

export function generateInterleaving(
  workshop: SearchContext,
  wish: InterleavingConstraints,
): GeneratedInterleaving {
  return new InterleavingGenerator(workshop, wish).generate();
}

class InterleavingGenerator {
  readonly #context: SearchContext;
  readonly #constraints: InterleavingConstraints;
  readonly #pool = new ValuePool();
  readonly #site: AnalysisSite;
  /**
   * Whether the initial state is valid. If so, every state that operations reach is valid too,
   * unless a violation was found.
   */
  readonly #isInitiallyValid: boolean;
  readonly #stamps = new StampGenerator();
  readonly #triedSteps: GeneratedStep[] = [];
  readonly #operationsWithoutArgs: string[] = [];
  /** The operations of the past, and those with which the second site goes on. */
  readonly #others: readonly [string, ...string[]];
  #serials = 0;

  constructor(workshop: SearchContext, wish: InterleavingConstraints) {
    this.#context = workshop;
    this.#constraints = wish;
    this.#site = new AnalysisSite(workshop);
    this.#isInitiallyValid = this.#site.isValid;
    const { random, scope, here, there } = wish;
    this.#others =
      scope.isNarrow === true ? [here, there, random.pick(this.#writes)] : this.#writes;
  }

  generate(): GeneratedInterleaving {
    const { random, scope, here: requested, there: other } = this.#constraints;
    const past: GeneratedStep[] = [];
    for (let left = random.between(0, scope.past); left > 0; left -= 1)
      this.#apply(this.#step(random.pick(this.#others)), past);
    let here = this.#step(requested);
    for (let tries = 1; tries < MAX_LOCAL_TRIES && !this.#isUsable(here); tries += 1) {
      // The wanted operation may need any other one before it.
      this.#apply(this.#step(random.pick(this.#writes)), past);
      here = this.#step(requested);
    }
    if (here === undefined || !this.#changes(here)) return this.#getResult([], undefined);
    this.#site.reserve(getChoice(here.result)?.effects ?? []);
    const there: GeneratedStep[] = [];
    for (let tries = 0; tries < MAX_REMOTE_TRIES && there.length === 0; tries += 1) {
      const isAlike = other === requested && random.chance(0.3);
      this.#apply(isAlike ? this.#run(other, here.step.args) : this.#step(other), there, THERE);
    }
    for (let left = random.between(0, MAX_REMOTE_STEPS - 1); left > 0; left -= 1) {
      this.#apply(this.#step(random.pick(this.#others)), there, THERE);
    }
    const steps = there.map(({ step }) => step);
    const place = random.between(0, 2 * steps.length);
    const interleaving = {
      past: past.map(({ step }) => step),
      here: here.step,
      there: steps,
      place,
    };
    return this.#getResult([...past, here, ...there], interleaving);
  }

  #getResult(
    retained: readonly GeneratedStep[],
    interleaving: Interleaving | undefined,
  ): GeneratedInterleaving {
    return {
      interleaving,
      triedSteps: this.#triedSteps,
      results: retained.map(({ result }) => result),
      operationsWithoutArgs: this.#operationsWithoutArgs,
      pool: this.#pool,
      site: this.#site,
    };
  }

  get #writes(): readonly [string, ...string[]] {
    return this.#context.service.writes as [string, ...string[]];
  }

  /**
   * Runs an operation on the present state with drawn arguments. Returns `undefined` if none were
   * found.
   */
  #step(operation: string): GeneratedStep | undefined {
    const { random, scope } = this.#constraints;
    const own = `n${this.#serials + 1}`;
    const generated = this.#context.args.draw(operation, own, {
      random,
      pool: this.#pool,
      scope,
    });
    if (generated === undefined) this.#operationsWithoutArgs.push(operation);
    return generated && this.#run(operation, generated.args, generated);
  }

  #run(operation: string, args: unknown, now?: GeneratedArgs): GeneratedStep {
    const { random } = this.#constraints;
    const serial = (this.#serials += 1);
    const seed = random.bits();
    const step = {
      operation,
      args,
      serial,
      seed,
      caller: this.#context.getCaller(seed),
      atMs: EPOCH_MS + serial + random.pick(STEP_DELAYS_MS),
    };
    const generated = { step, result: this.#site.run(step, true, now) };
    this.#triedSteps.push(generated);
    this.#pool.note(operation, args);
    return generated;
  }

  /** Returns whether the step has chosen a shadow operation that is allowed. */
  #changes(generated: GeneratedStep | undefined): boolean {
    const choice = generated && getChoice(generated.result);
    return choice !== undefined && this.#site.hasRightsFor(choice.effects);
  }

  /** Returns whether the step can be tried beside others: it changes something in a valid state. */
  #isUsable(generated: GeneratedStep | undefined): boolean {
    return this.#changes(generated) && (this.#isInitiallyValid || this.#site.isValid);
  }

  /** Applies a step that chose something allowed, and adds it to the steps of its site. */
  #apply(generated: GeneratedStep | undefined, to: GeneratedStep[], site?: Origin): void {
    const choice = generated && getChoice(generated.result);
    if (generated === undefined || choice === undefined || !this.#changes(generated)) return;
    const { step, result } = generated;
    this.#site.apply(
      stampChoice(this.#context.service, step, choice, this.#stamps, site ?? getSite(step)),
    );
    to.push(generated);
    this.#pool.note(step.operation, result.outcome?.reply.value);
    for (const { table, key, field, value } of choice.effects.slice(0, MAX_NOTED_EFFECTS)) {
      this.#pool.note('', key);
      this.#pool.note(field, value);
      const now = field === '' ? undefined : this.#site.store.read(table, key, field);
      if (typeof now === 'number') this.#pool.note(field, now);
    }
  }
}
