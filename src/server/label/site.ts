/** One site of a run: a store, and generators that run on it. */
import { structurallyEqual } from '../../correctable/equal.ts';
import { isCorrectableError } from '../../correctable/errors.ts';
import type { CorrectableError } from '../../correctable/errors.ts';
import { GeneratorRunner } from '../generator/generator-run.ts';
import type { GeneratorOutcome } from '../generator/generator-run.ts';
import type { Effect, Stamp } from '../records/effect.ts';
import type { Choice } from '../records/reply.ts';
import { Store } from '../state/store.ts';
import type { Origin } from '../records/origin.ts';
import { allowedBy, isWithinRights } from './rights.ts';
import type { Arguments } from './values/arguments.ts';
import { copied } from './values/copied.ts';
import type { JudgedService } from './judged-service.ts';
import type { Step } from './step.ts';
import { Validity } from './validity.ts';
import type { Broken, ShownRow } from './validity.ts';

/** A shadow operation with its stamp, as it is applied at any site. */
export interface Placed {
  readonly effects: readonly Effect[];
  readonly stamp: Stamp;
}

/** What came of running a generator: what it chose, if anything, or why it failed. */
export interface Ran {
  readonly outcome?: GeneratorOutcome;
  readonly failure?: CorrectableError;
  /** What it threw, where that was no error of ours. */
  readonly thrown?: unknown;
  /** Whether the arguments were others afterwards. */
  readonly hasChangedArgs?: true;
}

/** What all sites of all runs have in common. */
export interface Workshop {
  readonly judged: JudgedService;
  readonly args: Arguments;
}

/** A site. */
export class LabelSite {
  readonly store: Store;
  readonly #workshop: Workshop;
  readonly #validity: Validity;
  /** Made once it is wanted: many sites only apply what others chose. */
  #runner: GeneratorRunner | undefined;
  #thrown: unknown;

  /** @param applied what it has seen already */
  constructor(workshop: Workshop, applied: readonly Placed[] = []) {
    const { runnable } = workshop.judged;
    this.#workshop = workshop;
    this.store = new Store(runnable.tables);
    this.#validity = new Validity(runnable, this.store);
    for (const placed of applied) this.apply(placed);
  }

  /** Runs the generator of an operation; changes nothing. `isWatched` looks whether it leaves its arguments as they were. */
  run({ operation, args, serial, seed, atMs }: Step, isWatched = false): Ran {
    this.#thrown = undefined;
    const parsed = this.#workshop.args.parsed(operation, args);
    const before = isWatched ? copied(parsed) : undefined;
    try {
      const outcome = this.#generators.run({ serial, operation, args: parsed, seed, submittedAtMs: atMs });
      return isWatched && !structurallyEqual(before, parsed) ? { outcome, hasChangedArgs: true } : { outcome };
    } catch (failure) {
      if (!isCorrectableError(failure)) throw failure;
      return this.#thrown === undefined ? { failure } : { failure, thrown: this.#thrown };
    }
  }

  get #generators(): GeneratorRunner {
    if (this.#runner !== undefined) return this.#runner;
    const onThrown = (_who: string, thrown: unknown): void => {
      this.#thrown = thrown;
    };
    const options = { limits: { repeatedShare: 0 }, name: 'site', onThrown };
    this.#runner = new GeneratorRunner(this.#workshop.judged.runnable, this.store, options);
    return this.#runner;
  }

  /** Whether a site whose state this is may take a path as a blue one, if it is so otherwise. */
  isWithinRights(choice: Choice, site: Origin): boolean {
    return isWithinRights(choice, { tables: this.#workshop.judged.tables, store: this.store, site });
  }

  /** A path in the colour that such a site may take it in; `undefined` where it has to wait for rights. */
  allowed(choice: Choice, site: Origin): Choice | undefined {
    return allowedBy(choice, { tables: this.#workshop.judged.tables, store: this.store, site });
  }

  apply({ effects, stamp }: Placed): void {
    for (const effect of effects) this.store.apply(effect, stamp);
  }

  brokenBy(effects: readonly Effect[]): Broken | undefined {
    return this.#validity.brokenBy(effects);
  }

  row(table: string, key: string): ShownRow {
    return this.#validity.row(table, key);
  }

  rowsOf(effects: readonly Effect[]): readonly ShownRow[] {
    return this.#validity.rowsOf(effects);
  }
}

/** What was chosen, if it changes anything. */
export function choiceOf({ outcome }: Ran): Choice | undefined {
  return outcome?.choice;
}
