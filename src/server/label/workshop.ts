/**
 * What all sites of all runs of one search have in common: the service as it is judged, its arguments, and what reads a
 * state for generators and conditions. That is made once, since it costs more to make than a run reads by it.
 */
import { structurallyEqual } from '../../correctable/equal.ts';
import { isCorrectableError } from '../../correctable/errors.ts';
import type { GeneratorInput } from '../generator/generator-context.ts';
import { GeneratorRunner } from '../generator/generator-run.ts';
import { NO_NOTES, tablesReader } from '../generator/table-readers.ts';
import type { Entry, ReadRange } from '../records/key-range.ts';
import type { TablesReader } from '../service/readers.ts';
import type { Service } from '../service/service.ts';
import { beyondError, takesOf, type Need } from '../service/takes.ts';
import type { Tables } from '../service/tables.ts';
import { Store, type StateReader } from '../state/store.ts';
import { judgedService, type JudgedService } from './judged-service.ts';
import type { Ran, Step } from './step.ts';
import { Arguments, type Arbitraries, type DrawnArgs } from './values/arguments.ts';
import { equalCopy } from '../../values/copy.ts';
import type { Effect } from '../records/effect.ts';
import type { Ledger } from '../service/fields/ledger.ts';

/** Of one search. */
export class Workshop {
  readonly judged: JudgedService;
  readonly args: Arguments;
  readonly #state: StateAtHand;
  readonly #generators: GeneratorRunner;
  readonly #tables: TablesReader<Tables>;
  #thrown: unknown;

  /** @throws CorrectableError `INVALID_ARGUMENT` naming the arbitrary that does not fit */
  constructor(service: Service, arbitraries?: Arbitraries) {
    this.judged = judgedService(service);
    this.args = new Arguments(service.contract, arbitraries);
    const { runnable, tables } = this.judged;
    this.#state = new StateAtHand(new Store(tables));
    const onThrown = (_who: string, thrown: unknown): void => {
      this.#thrown = thrown;
    };
    const options = { limits: { repeatedShare: 0 }, name: 'site', onThrown, opensArgs: true } as const;
    this.#generators = new GeneratorRunner(runnable, this.#state, options);
    this.#tables = tablesReader(tables, this.#state, NO_NOTES);
  }

  /**
   * Runs the generator of an operation on a state; changes nothing. `isWatched` looks whether it changes its arguments, as
   * far as they can be copied and compared; `drawn` is given by who has just drawn them.
   */
  run({ operation, args, serial, seed, atMs }: Step, state: StateReader, isWatched = false, drawn?: DrawnArgs): Ran {
    this.#state.current = state;
    this.#thrown = undefined;
    const { parsed } = drawn ?? { parsed: this.args.parsed(operation, args) };
    const before = isWatched ? equalCopy(parsed) : undefined;
    const ran = this.#ran({ serial, operation, args: parsed, seed, submittedAtMs: atMs }, state);
    return before !== undefined && !structurallyEqual(before.copy, parsed) ? { ...ran, hasChangedArgs: true } : ran;
  }

  #ran(input: GeneratorInput, state: StateReader): Ran {
    try {
      const outcome = this.#generators.run(input);
      const { choice } = outcome;
      const lacking = choice && lackingFor(choice.effects, this.judged.tables, state);
      if (choice !== undefined && lacking !== undefined)
        return { failure: beyondError(choice.shadow, lacking), isLacking: true };
      return { outcome };
    } catch (failure) {
      if (!isCorrectableError(failure)) throw failure;
      return this.#thrown === undefined ? { failure } : { failure, thrown: this.#thrown };
    }
  }

  /** The tables of a state, as conditions read them: until another state is asked for, or run on. */
  tablesOf(state: StateReader): TablesReader<Tables> {
    this.#state.current = state;
    return this.#tables;
  }
}

/** Whichever state is read just now. */
class StateAtHand implements StateReader {
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
 * Of what these effects take together the first thing of which less is left (docs/spec/rights.md). Rights travel, so they
 * may lie wherever they are wanted: of ledgers only this counts here, how much is left, not who holds it.
 */
export function lackingFor(effects: readonly Effect[], tables: Tables, state: StateReader): Need | undefined {
  return takesOf(tables, effects).find(
    ({ table, key, field, amount }) => (state.read(table, key, field) as Ledger).left < amount,
  );
}
