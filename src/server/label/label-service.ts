/**
 * Labelling: which shadow operations of a service may be blue (RedBlue, OSDI 2012, §5.3). Runs are drawn in which two
 * sites act without knowing of each other; what one of them then breaks at the other has to be red. That nothing was found
 * proves nothing: a verdict says how much was tried.
 */
import { check } from '../../correctable/errors.ts';
import { checkKinds, checkNamed, checkRecord, hasMethods } from '../../correctable/given.ts';
import type { NamesOf } from '../../correctable/given.ts';
import type { Service } from '../service/service.ts';
import type { Arbitraries } from './values/draw.ts';
import type { LabelReport } from './report.ts';
import { Search } from './search.ts';
import { notesOf, tableOf, verdictsOf } from './verdicts.ts';
import { Workshop } from './workshop.ts';

/** How a service is labelled. */
export interface LabelOptions {
  /** How many runs. Default 10,000: some seconds. */
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
  checkOptions(service, options);
  const { runs = LABEL_RUNS, seed = 1, arbitraries, requests, goesOn } = options;
  const workshop = new Workshop(service, arbitraries);
  const { judged } = workshop;
  const search = new Search(workshop);
  let made = 0;
  for (; made < runs && goesOn?.(made) !== false; made += 1) search.run(seed + made);
  return {
    service: judged.name,
    runs: made,
    seed,
    shadows: verdictsOf(judged, search.tally),
    generators: notesOf(search.tally.generators),
    table: tableOf(judged, requests),
  };
}

function checkOptions(service: unknown, options: LabelOptions): void {
  check(hasMethods(service, 'checkResult'), 'service', `must be one made by defineService: write ${CALL}`);
  checkNamed(options, { call: CALL }, OPTIONS);
  const { runs = 1, seed = 0, arbitraries = {}, requests } = options;
  check(Number.isInteger(runs) && runs >= 1, 'runs', `must be a whole number from 1 on, not ${runs}`);
  check(Number.isInteger(seed) && seed >= 0, 'seed', `must be a whole number from 0 on, not ${seed}`);
  checkRecord(arbitraries, { call: '{ arbitraries: { withdraw: ({ pick }) => ({ … }) } }', field: 'arbitraries' });
  const isCount = requests === undefined || (Number.isInteger(requests) && requests >= 0);
  check(isCount, 'requests', 'must be their number, or none');
  checkKinds(options, 'function', 'goesOn');
}
