/**
 * Labelling: which shadow operations of a service may be blue (RedBlue, OSDI 2012, §5.3). Runs are drawn in which two
 * sites act without knowing of each other; what one of them then breaks at the other has to be red. That nothing was found
 * proves nothing: a verdict says how much was tried.
 */
import { check } from '../../correctable/errors.ts';
import { Random, firstSeedMax, isFirstSeed } from '../collections/random.ts';
import { checkKinds, checkNamed, checkRecord, type NamesOf } from '../../correctable/given.ts';
import { requireService, type Service } from '../service/service.ts';
import type { Arbitraries } from './values/arguments.ts';
import { UNDRAWN, failingIn, notesOf, silentOf, tableOf, verdictsOf, type LabelReport } from './report.ts';
import { Workshop } from './workshop.ts';
import { structurallyEqual } from '../../correctable/equal.ts';
import type { Choice } from '../records/reply.ts';
import { textOf } from '../records/failure.ts';
import { EPOCH_MS, drawMeeting, type Drawing, type DrawnStep } from './draw-meeting.ts';
import { runMeeting, type Breach, type MeetingResult } from './run-meeting.ts';
import { LabelSite } from './site.ts';
import { Pool, scopeOf } from './values/schema-values.ts';
import { shrinkBreach } from './shrink-breach.ts';
import { choiceOf, type Meeting, type Ran, type Step } from './step.ts';
import { Tally } from './tally.ts';

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

/** The share of runs that run a read twice. */
const READS = 0.25;

/** Runs one after the other, each a function of its seed, and what they add up to. */
class Search {
  readonly tally: Tally;
  readonly #workshop: Workshop;

  constructor(workshop: Workshop) {
    this.#workshop = workshop;
    this.tally = new Tally(new LabelSite(workshop).brokenBy([]));
  }

  /**
   * The run with this seed. In runs with seeds that follow each other all pairs of operations take turns.
   *
   * @param endsShrinking asked while what was found is made simpler: `true` leaves it as it is
   */
  run(seed: number, endsShrinking?: () => boolean): void {
    const { updates } = this.#workshop.judged;
    const { length } = updates;
    // Each beside itself first, which is what breaks most often; then beside the next one, and so on.
    const [here, there] = [updates[seed % length], updates[(seed + Math.floor(seed / length)) % length]];
    const random = new Random(seed);
    if (here === undefined || there === undefined) {
      // A service of reads alone.
      this.#runRead(random, { tried: [], pool: new Pool(), site: new LabelSite(this.#workshop) });
      return;
    }
    const scope = scopeOf(Math.floor(seed / length ** 2));
    const drawing = drawMeeting(this.#workshop, { random, scope, here, there });
    for (const operation of drawing.undrawn) {
      this.tally.noteGenerator(operation, { trouble: UNDRAWN });
    }
    for (const each of drawing.tried) this.#noteRan(each);
    if (random.chance(READS)) this.#runRead(random, drawing);
    if (drawing.meeting === undefined) return;
    const meeting = this.#held(drawing.meeting, drawing.ran);
    const result = runMeeting(this.#workshop, meeting);
    this.#compare(meeting, drawing.ran, result.ran);
    this.#note(meeting, result);
    if (result.breach !== undefined) this.#noteBreach(result.breach, seed, endsShrinking);
  }

  /** What is red by itself is held against nothing but the state that it was chosen in. */
  #held(meeting: Meeting, ran: readonly Ran[]): Meeting {
    const choice = ran[meeting.past.length]?.outcome?.choice;
    if (choice === undefined) return meeting;
    const why = this.#workshop.judged.redByItself(choice.shadow, choice.effects);
    if (why === undefined) return meeting;
    this.tally.trialOf(choice.shadow, meeting.here.operation).redByItself = why;
    return { ...meeting, there: [], place: 0 };
  }

  #note(meeting: Meeting, { here, beside }: MeetingResult): void {
    if (here === undefined) return;
    const trial = this.tally.trialOf(here.shadow, meeting.here.operation);
    if (beside.length > 0) trial.tried += 1;
    for (const shadow of new Set(beside)) trial.beside.set(shadow, (trial.beside.get(shadow) ?? 0) + 1);
  }

  #noteBreach(breach: Breach, seed: number, endsShrinking?: () => boolean): void {
    const trial = this.tally.trialOf(breach.shadow, breach.operation);
    const place = breach.kind === 'alone' ? 'alone' : 'together';
    if (trial[place] !== undefined) return;
    // Before it is made simpler, which code that does not return may end.
    trial[place] = { breach, seed };
    trial[place] = { breach: shrinkBreach(this.#workshop, breach, endsShrinking), seed };
  }

  /** Reads are run for their generators' sake: of these it is wanted too that they have no effects. */
  #runRead(random: Random, { tried, pool, site }: Pick<Drawing, 'tried' | 'pool' | 'site'>): void {
    const { judged, args } = this.#workshop;
    if (judged.reads.length === 0) return;
    const near = tried.at(-1)?.step ?? { seed: random.bits(), atMs: EPOCH_MS };
    const operation = random.pick(judged.reads as [string, ...string[]]);
    const drawn = args.draw(operation, 'n0', { random, pool, scope: scopeOf(0) });
    if (drawn === undefined) return;
    const step: Step = { ...near, operation, args: drawn.args, serial: 0 };
    const [first, second] = [site.run(step, true, drawn), site.run(step)];
    this.#noteRan({ step, ran: first });
    this.#compare({ past: [], here: step, there: [], place: 0 }, [first], [second]);
  }

  #noteRan({ step: { operation }, ran }: DrawnStep): void {
    const { failure, thrown, hasChangedArgs, isLacking = false } = ran;
    this.tally.noteRun(operation, failure !== undefined && !isLacking);
    this.#noteChoice(operation, choiceOf(ran));
    if (hasChangedArgs) this.tally.noteGenerator(operation, { fault: 'it changes its arguments' });
    if (failure === undefined) return;
    const trouble = thrown === undefined ? failure.message : `it threw ${textOf(thrown)}`;
    this.tally.noteGenerator(operation, { trouble });
  }

  /** Of what was chosen a verdict speaks, though it may be tried beside nothing. */
  #noteChoice(operation: string, choice: Choice | undefined): void {
    if (choice === undefined) return;
    if (this.#workshop.judged.updates.includes(operation)) this.tally.trialOf(choice.shadow, operation);
    else
      this.tally.noteGenerator(operation, { fault: 'a read, it has chosen a shadow operation, which no site applies' });
  }

  /** A generator that depends on anything else than its input and the state gives itself away on a second run. */
  #compare({ past, here, there }: Meeting, first: readonly Ran[], second: readonly Ran[]): void {
    for (const [at, { operation }] of [...past, here, ...there].entries()) {
      const [before, after] = [first[at], second[at]];
      if (before === undefined || after === undefined || isSameOutcome(before, after)) continue;
      this.tally.noteGenerator(operation, { fault: 'run twice on the same, it does not do the same' });
    }
  }
}

function isSameOutcome({ outcome: a, failure: c }: Ran, { outcome: b, failure: d }: Ran): boolean {
  const parts = (ran: typeof a): unknown =>
    ran && [ran.choice?.shadow, ran.choice?.effects, ran.reply, ran.refusal?.domain, ran.isLocal, ran.reads];
  return structurallyEqual(parts(a), parts(b)) && c?.code === d?.code;
}
