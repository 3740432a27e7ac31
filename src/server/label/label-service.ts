/**
 * Labelling: which shadow operations of a service may be blue (RedBlue, OSDI 2012, §5.3). Runs are drawn in which two
 * sites act without knowing of each other; what one of them then breaks at the other has to be red. That nothing was found
 * proves nothing: a verdict says how much was tried.
 */
import { check } from '../../correctable/errors.ts';
import { firstSeedMax, isFirstSeed } from '../collections/random.ts';
import { checkKinds, checkNamed, checkRecord, type NamesOf } from '../../correctable/given.ts';
import { requireService, type Service } from '../service/service.ts';
import type { Arbitraries } from './values/arguments.ts';
import { failingIn, notesOf, silentOf, tableOf, verdictsOf, type LabelReport } from './report.ts';
import { Search } from './search.ts';
import { Workshop } from './workshop.ts';

/** How a service is labelled. */
export interface LabelOptions {
  /**
   * How many runs. Default 10,000: from seconds to a minute or more, by how many updates there are, how much a generator
   * reads, and how much a condition of `snapshotInvariants`, which is asked after each operation.
   */
  readonly runs?: number;
  /** Of the first run; the others follow. Default 1. */
  readonly seed?: number;
  /**
   * Draws arguments of operations that the contract's schemas alone would not lead to. What the contract refuses is drawn
   * anew.
   *
   * @example
   * arbitraries: { withdraw: ({ pick, between }) => ({ account: pick(['a', 'b']), cents: between(1, 3) }) }
   */
  readonly arbitraries?: Arbitraries;
  /** What users of the application ask for, in number: the table tells it. */
  readonly requests?: number;
  /** Asked before each run, with the number of those that were made: `false` ends it there. */
  readonly goesOn?: (made: number) => boolean;
}

const CALL = 'labelService(service, { runs: 10_000, seed: 1 })';

const OPTIONS: NamesOf<LabelOptions> = { runs: true, seed: true, arbitraries: true, requests: true, goesOn: true };

/** Enough to meet each pair of operations often. */
export const LABEL_RUNS = 10_000;

/**
 * Says of each shadow operation of a service whether it may be blue, with a counterexample where it may not.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit, or the arbitrary that threw.
 * @example
 * const { shadows } = labelService(bankService);
 * expect(shadows.filter(({ verdict }) => verdict === 'unsafe')).toEqual([]);
 */
export function labelService(service: Service, options: LabelOptions = {}): LabelReport {
  const labelling = new Labelling(service, options);
  labelling.goOn();
  return labelling.report;
}

/** Labelling in parts: whoever guards against code that does not return has to go on from where it was stopped. */
export class Labelling {
  readonly #workshop: Workshop;
  readonly #search: Search;
  readonly #options: LabelOptions;
  readonly #first: number;
  readonly #runs: number;
  #made = 0;
  #isEnded = false;

  /** @throws as `labelService` */
  constructor(service: Service, options: LabelOptions = {}) {
    checkOptions(service, options);
    const { runs = LABEL_RUNS, seed = 1, arbitraries } = options;
    this.#options = options;
    this.#first = seed;
    this.#runs = runs;
    this.#workshop = new Workshop(service, arbitraries);
    this.#search = new Search(this.#workshop);
  }

  get isDone(): boolean {
    return this.#isEnded || this.#made >= this.#runs;
  }

  /** The seed of the next run, or of the one that was stopped. */
  get seed(): number {
    return this.#first + this.#made;
  }

  /**
   * Makes runs, until there are no more to be made or `until` says so; where something was found, `endsShrinking` that it is
   * simple enough.
   *
   * @throws as `labelService`
   */
  goOn(until: () => boolean = () => false, endsShrinking?: () => boolean): void {
    const { goesOn } = this.#options;
    while (!this.isDone && !until()) {
      this.#isEnded = goesOn?.(this.#made) === false;
      if (this.#isEnded) return;
      this.#search.run(this.seed, endsShrinking);
      this.#made += 1;
    }
  }

  get report(): LabelReport {
    const { judged } = this.#workshop;
    const { tally } = this.#search;
    const shadows = verdictsOf(judged, tally);
    return {
      service: judged.name,
      runs: this.#made,
      seed: this.#first,
      shadows,
      generators: notesOf([...failingIn(judged, tally), ...tally.generators, ...silentOf(judged, tally)]),
      table: tableOf(judged, shadows, this.#options.requests),
    };
  }
}

function checkOptions(service: unknown, options: LabelOptions): void {
  requireService(service, CALL);
  checkNamed(options, { call: CALL }, OPTIONS);
  const { runs = 1, seed = 0, arbitraries = {}, requests } = options;
  check(Number.isInteger(runs) && runs >= 1, 'runs', `must be a whole number from 1 on, not ${runs}`);
  check(isFirstSeed(seed, runs), 'seed', `must be a whole number from 0 to ${firstSeedMax(runs)}, not ${seed}`);
  checkRecord(arbitraries, { call: '{ arbitraries: { withdraw: ({ pick }) => ({ … }) } }', field: 'arbitraries' });
  const isCount = requests === undefined || (Number.isInteger(requests) && requests >= 0);
  check(isCount, 'requests', 'must be their number, or none');
  checkKinds(options, 'function', 'goesOn');
}
