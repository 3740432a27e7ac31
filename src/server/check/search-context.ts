/**
 * The objects that all runs of one search share. They are created once, because that costs more
 * than a run.
 */
import { structurallyEqual } from '../../correctable/structural-equality.ts';
import { isCorrectableError } from '../../correctable/errors.ts';
import type { GeneratorInput } from '../service/generator/generator-context.ts';
import { GeneratorRunner } from '../service/generator/generator-runner.ts';
import { NO_READ_LISTENER, createTablesReader } from '../service/generator/table-readers.ts';
import type { Entry, ReadRange } from '../service/records/read-range.ts';
import type { TablesReader } from '../service/readers.ts';
import {
  getOperationPlans,
  type OperationPlan,
  type OperationPlans,
} from '../service/operation-plan.ts';
import type { Service } from '../service/service.ts';
import { takeTooLargeError, sumTakes, type RightsNeed } from '../service/bounded-takes.ts';
import type { Tables } from '../service/tables.ts';
import { Store, type StateReader } from '../service/state/store.ts';
import { createAnalyzedService, type AnalyzedService } from './analyzed-service.ts';
import { Caller, type StepResult, type Step } from './interleaving.ts';
import {
  ArgumentGenerator,
  type Arbitraries,
  type GeneratedArgs,
} from './values/argument-generator.ts';
import { createPrincipals } from './values/principals.ts';
import type { Principal } from '../../correctable/binding.ts';
import { tryEqualCopy } from '../../values/deep-copy.ts';
import type { Effect } from '../service/records/effect.ts';
import type { Ledger } from '../service/fields/ledger.ts';

/** Determines how the input of clients is drawn: see `ColorAnalysisOptions`. */
interface SearchOptions {
  readonly arbitraries?: Arbitraries;
  readonly principals?: readonly Principal[];
}

export class SearchContext {
  readonly service: AnalyzedService;
  readonly args: ArgumentGenerator;
  readonly #state: StateRef;
  readonly #generators: GeneratorRunner;
  readonly #plans: OperationPlans;
  readonly #tables: TablesReader<Tables>;
  #thrown: unknown;

  readonly #principals: readonly Principal[];

  /** @throws CorrectableError `INVALID_ARGUMENT` naming the invalid arbitrary */
  constructor(service: Service, { arbitraries, principals }: SearchOptions = {}) {
    this.service = createAnalyzedService(service);
    this.#principals = createPrincipals(principals);
    this.args = new ArgumentGenerator(service.contract, arbitraries);
    const { runnable, tables } = this.service;
    this.#plans = getOperationPlans(runnable);
    this.#state = new StateRef(new Store(tables));
    const onGeneratorError = (_who: string, thrown: unknown): void => {
      this.#thrown = thrown;
    };
    const options = {
      limits: { determinismCheckRate: 0 },
      identifierPrefix: 'site',
      onGeneratorError,
      allowsArgChanges: true,
    } as const;
    this.#generators = new GeneratorRunner(runnable, this.#state, options);
    this.#tables = createTablesReader(tables, this.#state, NO_READ_LISTENER);
  }

  /**
   * Returns the user of a step. It follows from the seed, so that a repeated run has the same one.
   */
  getCaller(seed: number): Caller {
    return new Caller(this.#principals[seed % this.#principals.length] as Principal);
  }

  /**
   * Runs a generator on a state and changes nothing. With `isWatched`, checks whether it changes
   * its arguments.
   */
  run(
    { operation, args, serial, seed, atMs, caller }: Step,
    state: StateReader,
    isWatched = false,
    generated?: GeneratedArgs,
  ): StepResult {
    this.#state.current = state;
    this.#thrown = undefined;
    const { parsed } = generated ?? {
      parsed: this.args.parse(operation, args),
    };
    const before = isWatched ? tryEqualCopy(parsed) : undefined;
    const executed = this.#toResult(
      {
        serial,
        plan: this.#plans.get(operation) as OperationPlan,
        args: parsed,
        seed,
        submittedAtMs: atMs,
        get principal() {
          return caller?.read();
        },
      },
      state,
    );
    return before !== undefined && !structurallyEqual(before.copy, parsed)
      ? { ...executed, hasChangedArgs: true }
      : executed;
  }

  #toResult(input: GeneratorInput, state: StateReader): StepResult {
    try {
      const outcome = this.#generators.run(input);
      const { choice } = outcome;
      const lacking = choice && findRightsShortfall(choice.effects, this.service.tables, state);
      if (choice !== undefined && lacking !== undefined)
        return {
          failure: takeTooLargeError(choice.shadow, lacking),
          isMissingInput: true,
        };
      return { outcome };
    } catch (failure) {
      if (!isCorrectableError(failure)) throw failure;
      return this.#thrown === undefined ? { failure } : { failure, thrown: this.#thrown };
    }
  }

  /** Returns the tables of a state for conditions. They are valid until the next call or run. */
  getTables(state: StateReader): TablesReader<Tables> {
    this.#state.current = state;
    return this.#tables;
  }
}

class StateRef implements StateReader {
  current: StateReader;

  constructor(current: StateReader) {
    this.current = current;
  }

  read(table: string, key: string, field: string): unknown {
    return this.current.read(table, key, field);
  }

  has(table: string, key: string): boolean {
    return this.current.has(table, key);
  }

  scan(range: ReadRange, reverse: boolean): Iterable<Entry> {
    return this.current.scan(range, reverse);
  }
}

/**
 * Returns the first bounded field of which less is left than these effects take, at all sites
 * together.
 */
export function findRightsShortfall(
  effects: readonly Effect[],
  tables: Tables,
  state: StateReader,
): RightsNeed | undefined {
  return sumTakes(tables, effects).find(
    ({ table, key, field, amount }) => (state.read(table, key, field) as Ledger).left < amount,
  );
}
