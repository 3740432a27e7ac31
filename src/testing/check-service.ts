/** An author's own service in the simulator: under its faults, watched by its checkers and its oracle. */
import type { Operation } from '../correctable/operation.ts';
import { CorrectableError } from '../correctable/errors.ts';
import { checkNamed, isRecord, type NamesOf } from '../correctable/given.ts';
import { sentCopy } from '../protocol/codec/check-portable.ts';
import { ParsedOperation, parseArgs } from '../protocol/contract/catalogue.ts';
import { Random, firstSeedMax, isFirstSeed } from '../server/collections/random.ts';
import { drawFrom, type Draw } from '../server/label/values/arguments.ts';
import { shown } from '../server/label/values/shown.ts';
import { requireService, type Service } from '../server/service/service.ts';
import { Fault } from './simulator/checkers/checker.ts';
import { GeneratorChecker } from './simulator/checkers/invariants.ts';
import { PROFILES, drawOptions, type Profile, type SimulationOptions } from './simulator/options.ts';
import type { ClientOperation } from './simulator/history.ts';
import { formatOverrides, shrink } from './simulator/shrink.ts';
import { simulate, type RunResult } from './simulator/simulation.ts';
import { observedTraits, type DrawFrom, type Drawn, type World } from './simulator/world.ts';
import { ALONE } from './simulator/checkers/oracle.ts';
import { isSameSent } from './simulator/oracle/sent.ts';

/** How to check a service. */
export interface CheckServiceOptions {
  /**
   * Draws what a client asks for next. Few keys make operations meet.
   *
   * @example
   * draw: ({ pick }) => pick([shop.buy({ item: 'a' }), shop.restock({ item: 'a', count: 3 })])
   */
  readonly draw: (draw: Draw) => Operation;
  /**
   * How many runs, each with circumstances of its own. Default 100: from seconds to minutes, by how many operations a
   * run has, how much their generators read, and how much a condition of `snapshotInvariants`, which each site asks
   * after each operation. A service of eight updates with one took more than two seconds a run on a busy machine: begin
   * with few.
   */
  readonly runs?: number;
  /** Of the first run; the others follow. Default 1. */
  readonly seed?: number;
  /** Which faults: `swarm`, all in turns, unless given; `calm` has none but delays. */
  readonly profile?: Profile;
  /** Circumstances in the place of drawn ones, as a `ServiceFault` names them. */
  readonly with?: Partial<SimulationOptions>;
}

/** What became of the calls of one operation, by the first answer of each. */
export interface OperationCounts {
  /** Answered with a change that its own site had committed. */
  readonly blue: number;
  /** Answered with a change in the order of all sites. */
  readonly red: number;
  /** Answered without a change, as reads are. */
  readonly unchanged: number;
  /** Refused by an error of the domain, or without an answer to the end. */
  readonly failed: number;
}

/** What the runs went through. */
export interface ServiceReport {
  readonly runs: number;
  /** By name, added up: operations answered, crashes, partitions, … */
  readonly coverage: Readonly<Record<string, number>>;
  /** Each operation of the contract, added up: one that has changed nothing in all runs was not checked. */
  readonly operations: Readonly<Record<string, OperationCounts>>;
}

/** A property that a service, or the backend below it, does not keep, with what repeats the simplest run that shows it. */
export class ServiceFault extends Error {
  override readonly name = 'ServiceFault';
  /** The checker that noticed, as `invariants` or `generators`; `repetition` where a run went another way when repeated. */
  readonly checker: string;
  readonly seed: number;
  /** For `with`, beside the seed and the profile. */
  readonly circumstances: Partial<SimulationOptions>;

  constructor(
    checker: string,
    message: string,
    seed: number,
    circumstances: Partial<SimulationOptions>,
    profile?: Profile,
    runs = 1,
  ) {
    const given = formatOverrides(circumstances).replaceAll('"Infinity"', 'Infinity');
    const under = profile === undefined ? '' : `profile: '${profile}', `;
    const again = `${under}seed: ${seed}, runs: ${runs}, with: ${given}`;
    super(`${checker}: ${message}\nAgain: checkService(service, { …, ${again} })`);
    this.checker = checker;
    this.seed = seed;
    this.circumstances = circumstances;
  }
}

/**
 * Runs a service in the simulator: sites that crash, disks that tear and fill up, networks that lose and cut, clients
 * that move. After every operation its invariants are checked; every generator runs again on a plain model of the
 * service; what they ask of the tables, replies, effects, causal and red order, sessions and durability have to agree. Last
 * the first run is repeated: a service that answers otherwise then knows something that its tables do not hold
 * (`repetition`).
 *
 * @throws ServiceFault at the first property that does not hold; as `draw` where that gave no operation of the contract,
 * or none that fits it or can be sent, as `crash` where it threw.
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit.
 * @example
 * test('the shop keeps its invariants', () => {
 *   checkService(shopService, { draw: ({ pick }) => shop.buy({ item: pick(['a', 'b']) }) });
 * });
 */
export function checkService(service: Service, options: CheckServiceOptions): ServiceReport {
  checkOptions(service, options);
  const { draw, runs = 100, seed = 1, profile = 'swarm', with: given = {} } = options;
  const drawn = drawsOf(service, draw);
  const draws = new RepeatableDraws(drawn);
  const world = worldOf(service, drawn);
  const coverage: Record<string, number> = {};
  const operations = noCounts(service);
  let first: RunResult | undefined;
  for (let index = 0; index < runs; index += 1) {
    const isFirst = index === 0;
    const result = simulate(seed + index, profile, {
      world: isFirst ? { ...world, draw: draws.first } : world,
      overrides: given,
    });
    if (isFirst) first = result;
    for (const [name, count] of Object.entries(result.coverage)) coverage[name] = (coverage[name] ?? 0) + count;
    for (const call of result.history) operations[call.operation]![endOf(call)] += 1;
    if (result.fault === undefined) continue;
    const { result: simplest, overrides } = shrink(result, profile, { world, overrides: given });
    const { checker, message } = simplest.fault ?? result.fault;
    throw new ServiceFault(checker, message, result.seed, overrides, options.profile);
  }
  // Sites and model share what a service keeps beside its tables: who asks those first, and then goes by that, meets it in
  // another run alone.
  const again = simulate(seed, profile, { world: { ...world, draw: draws.again }, overrides: given });
  const fail = (checker: string, message: string): never => {
    throw new ServiceFault(checker, message, seed, given, options.profile, runs);
  };
  // What only the second run asks for, since it goes another way, is drawn anew.
  if (again.fault !== undefined && again.fault.checker !== 'draw') fail(again.fault.checker, again.fault.message);
  const difference = unlike((first as RunResult).history, again.history);
  if (difference !== undefined) fail('repetition', difference);
  return { runs, coverage, operations };
}

type Counted = { -readonly [K in keyof OperationCounts]: number };

function noCounts({ contract }: Service): Record<string, Counted> {
  const names = Object.keys(contract.operations);
  return Object.fromEntries(names.map((name) => [name, { blue: 0, red: 0, unchanged: 0, failed: 0 }]));
}

function endOf({ shownAs, isChange }: ClientOperation): keyof OperationCounts {
  if (shownAs === undefined) return 'failed';
  return shownAs === 'none' || isChange !== true ? 'unchanged' : shownAs;
}

function worldOf(service: Service, draw: World['draw']): World {
  return {
    service,
    traits: observedTraits(service),
    draw,
    checkers: ({ thrown }) => [new GeneratorChecker(thrown)],
  };
}

function drawsOf(service: Service, draw: CheckServiceOptions['draw']): World['draw'] {
  return ({ random, own }) => {
    const operation = draw(drawFrom(random, own));
    const args = argsOf(service, operation);
    return { operation: operation.name, args };
  };
}

function argsOf({ contract }: Service, drawn: Operation): Record<string, unknown> {
  try {
    if (!isRecord(drawn)) return parseArgs(contract, drawn) as Record<string, unknown>;
    // As a client would send them: what it draws from stays its own, too.
    const sent = { ...drawn, args: sentCopy(ParsedOperation.inputOf(drawn), 'args') };
    return parseArgs(contract, sent) as Record<string, unknown>;
  } catch (error) {
    throw new Fault(`gave ${shown(drawn)}: ${(error as Error).message}`, 'draw');
  }
}

const CALL = 'checkService(service, { draw: ({ pick }) => shop.buy({ item: pick([…]) }) })';

const OPTIONS: NamesOf<CheckServiceOptions> = { draw: true, runs: true, seed: true, profile: true, with: true };

function checkOptions(service: Service, options: CheckServiceOptions): void {
  requireService(service, CALL);
  checkNamed(options, { call: CALL }, OPTIONS);
  const { draw, runs = 1, seed = 0, profile = 'swarm', with: given = {} } = options;
  const fail = (field: string, problem: string): never => {
    throw new CorrectableError('INVALID_ARGUMENT', `${field} ${problem}.`, { field });
  };
  if (typeof draw !== 'function') fail('draw', 'must be a function that gives an operation of the contract');
  if (!Number.isInteger(runs) || runs < 1) fail('runs', `must be a whole number from 1 on, not ${runs}`);
  if (!isFirstSeed(seed, runs)) fail('seed', `must be a whole number from 0 to ${firstSeedMax(runs)}, not ${seed}`);
  if (!PROFILES.includes(profile)) fail('profile', `must be one of ${PROFILES.join(', ')}, not ${profile}`);
  if (!isRecord(given)) fail('with', 'must be the circumstances that a ServiceFault names, or none');
  // All that there are is drawn for a run.
  const drawn = drawOptions(0) as unknown as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries(given)) {
    const field = `with.${name}`;
    if (!Object.hasOwn(drawn, name)) fail(field, `is none of ${Object.keys(drawn).join(', ')}`);
    const kind = typeof drawn[name];
    if (value !== undefined && typeof value !== kind) fail(field, `must be a ${kind}, not ${shown(value)}`);
  }
}

/** What was drawn for one operation, and how much randomness that took. */
interface Kept {
  readonly drawn: Drawn;
  readonly count: number;
}

/** What clients ask for in one run: the same again where it is repeated, whatever their `draw` would say by then. */
class RepeatableDraws {
  readonly #draw: World['draw'];
  readonly #kept = new Map<string, Kept>();

  constructor(draw: World['draw']) {
    this.#draw = draw;
  }

  /** Of the run that will be repeated. */
  readonly first = (from: DrawFrom): Drawn => {
    const random = new CountedRandom(from.random);
    const drawn = this.#draw({ ...from, random });
    this.#kept.set(from.own, { drawn, count: random.count });
    return drawn;
  };

  /** Of the same run when it is repeated: anew what only that asks for. */
  readonly again = (from: DrawFrom): Drawn => {
    const kept = this.#kept.get(from.own);
    if (kept === undefined) return this.#draw(from);
    for (let count = 0; count < kept.count; count += 1) from.random.bits();
    return kept.drawn;
  };
}

class CountedRandom extends Random {
  count = 0;
  readonly #source: Random;

  constructor(source: Random) {
    super(0);
    this.#source = source;
  }

  override bits(): number {
    this.count += 1;
    return this.#source.bits();
  }
}

/** The first call that ended otherwise the second time, in words; none where all went the same way. */
function unlike(first: readonly ClientOperation[], again: readonly ClientOperation[]): string | undefined {
  const calls = new Map(again.map((call) => [call.id, call]));
  for (const before of first) {
    const after = calls.get(before.id);
    if (after !== undefined && isSameSent(partsOf(before), partsOf(after))) continue;
    const [one, other] = [told(before), after === undefined ? 'not asked for' : told(after)];
    const call = `${before.operation}(${shown(before.args)})`;
    const otherwise = one === other ? 'otherwise, or at another time,' : other;
    return `${call} was ${one}, and ${otherwise} when the same run was repeated: ${ALONE}`;
  }
  return undefined;
}

function partsOf({ answers, failures, shownAs, isChange, error }: ClientOperation): unknown {
  return { answers, failures, shownAs, isChange, error };
}

function told({ answers: [first], failures, shownAs, error }: ClientOperation): string {
  if (first === undefined) return `told ${error ?? failures.at(-1) ?? 'nothing'}`;
  const colour = shownAs === undefined || shownAs === 'none' ? '' : ` (${shownAs})`;
  return `answered ${shown(first.value)}${colour}`;
}
