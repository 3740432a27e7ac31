/**
 * Runs an application's service in the simulator, with its faults, its checkers, and its comparison
 * with a plain model.
 */
import type { Principal } from '../correctable/binding.ts';
import type { Operation } from '../correctable/operation.ts';
import { describeUnknownOption } from '../correctable/unknown-option.ts';
import { check } from '../correctable/errors.ts';
import {
  anyValue,
  checkOption,
  integer,
  matches,
  oneOf,
  optional,
  readOptions,
  required,
  type OptionsOf,
  type ResolvedOptions,
} from '../correctable/options.ts';
import { isRecord } from '../correctable/validate.ts';
import { copyForWire } from '../protocol/codec/portable-values.ts';
import { ParsedOperation, parseArgs } from '../contract/operation-registry.ts';
import { Random, getMaxFirstSeed } from '../server/service/collections/random.ts';
import { createDrawContext, type DrawContext } from '../server/check/values/argument-generator.ts';
import { createPrincipals } from '../server/check/values/principals.ts';
import { formatValue } from '../server/check/values/format-values.ts';
import { requireService, type Service } from '../server/service/service.ts';
import { PropertyViolation } from './simulator/checkers/checker.ts';
import { GeneratorChecker } from './simulator/checkers/invariants.ts';
import {
  PROFILES,
  drawOptions,
  type Profile,
  type SimulationOptions,
} from './simulator/options.ts';
import type { ClientOperation } from './simulator/history.ts';
import { formatOverrides, shrinkRun } from './simulator/shrink.ts';
import type { RunResult } from './simulator/run-result.ts';
import { simulate } from './simulator/simulation.ts';
import {
  getObservedTraits,
  type DrawOptions,
  type DrawnOperation,
  type Scenario,
} from './simulator/scenario.ts';
import { PURITY_ADVICE } from './simulator/checkers/oracle.ts';
import { isSameSent } from './simulator/oracle/compare-sent.ts';

/** Options of `simulateService`. */
export interface SimulateServiceOptions {
  /**
   * Draws the next operation of a client. Use few keys, so that operations conflict.
   *
   * @example
   * draw: ({ pick }) => pick([shop.buy({ item: 'a' }), shop.restock({ item: 'a', count: 3 })])
   */
  readonly draw: (draw: DrawContext) => Operation;
  /**
   * The users of the clients, assigned in turn, if generators read `principal`. Default: `[{ id:
   * 'ada' }, { id: 'bob' }]`
   */
  readonly principals?: readonly Principal[];
  /**
   * Number of runs, each with its own faults and delays. They take from seconds to minutes. Start
   * with few. Default: 100
   *
   * More operations, more reads of generators, and conditions of `snapshotInvariants`, which each
   * site checks after each operation, take longer. A service with eight writes and one such
   * condition took more than two seconds for each run on a busy machine.
   */
  readonly runs?: number | undefined;
  /** Seed of the first run. Each further run adds 1. Default: 1 */
  readonly seed?: number | undefined;
  /** Kind of faults. `swarm`: a random mix of all. `calm`: only delays. Default: `swarm` */
  readonly profile?: Profile | undefined;
  /** Options of a run that replace drawn ones, as in the message of a `ServiceCheckError`. */
  readonly overrides?: Partial<SimulationOptions> | undefined;
}

/** How often the calls of one operation had each outcome, by the first answer of each call. */
export interface OperationCounts {
  /** Calls answered with a blue change, which the site had committed alone. */
  readonly blue: number;
  /** Calls answered with a red change, in the order of all sites. */
  readonly red: number;
  /** Calls answered without a change, such as reads. */
  readonly unchanged: number;
  /** Calls refused by a domain error, or unanswered at the end. */
  readonly failed: number;
}

/** Summary of all runs. */
export interface ServiceReport {
  readonly runs: number;
  /** Totals by name: operations answered, crashes, partitions, … */
  readonly coverage: Readonly<Record<string, number>>;
  /**
   * Totals of each operation of the contract. An operation that has changed nothing in all runs was
   * not checked.
   */
  readonly operations: Readonly<Record<string, OperationCounts>>;
}

/**
 * Thrown if a service, or the backend below it, breaks a property. Its message contains the code to
 * repeat the simplest such run.
 */
export class ServiceCheckError extends Error {
  override readonly name = 'ServiceCheckError';
  /**
   * The checker that failed, such as `invariants` or `generators`, or `repetition` if a repeated
   * run differs.
   */
  readonly checker: string;
  readonly seed: number;
  /** Value for `overrides`, together with the seed and the profile. */
  readonly overrides: Partial<SimulationOptions>;

  constructor(
    checker: string,
    message: string,
    seed: number,
    overrides: Partial<SimulationOptions>,
    profile?: Profile,
    runs = 1,
  ) {
    const value = formatOverrides(overrides).replaceAll('"Infinity"', 'Infinity');
    const under = profile === undefined ? '' : `profile: '${profile}', `;
    const again = `${under}seed: ${seed}, runs: ${runs}, overrides: ${value}`;
    super(`${checker}: ${message}\nAgain: simulateService(service, { …, ${again} })`);
    this.checker = checker;
    this.seed = seed;
    this.overrides = overrides;
  }
}

/**
 * Runs a service in the simulator: sites crash, disks tear and fill up, networks lose messages and
 * split, clients move. After every operation it checks the invariants, and runs the generator again
 * on a plain model of the service. Reads of tables, replies, effects, causal and red order,
 * sessions and durability must match. At the end it repeats the first run. If the results differ,
 * the service depends on data outside its tables (`repetition`).
 *
 * @throws ServiceCheckError for the first property that does not hold.
 * @throws ServiceCheckError as `draw` if `draw` returned no operation of the contract, or one that
 * is invalid.
 * @throws ServiceCheckError as `crash` if a run threw.
 * @throws CorrectableError `INVALID_ARGUMENT` with the name of the invalid option.
 * @example
 * test('the shop keeps its invariants', () => {
 *   simulateService(shopService, { draw: ({ pick }) => shop.buy({ item: pick(['a', 'b']) }) });
 * });
 */
export function simulateService(service: Service, options: SimulateServiceOptions): ServiceReport {
  const {
    draw,
    runs,
    seed,
    profile,
    overrides: value = {},
  } = readSimulationOptions(service, options);
  const generated = createDraws(service, draw);
  const draws = new RepeatableDraws(generated);
  const scenario = {
    ...createScenario(service, generated),
    principals: createPrincipals(options.principals),
  };
  const coverage: Record<string, number> = {};
  const operations = createCounts(service);
  let first: RunResult | undefined;
  for (let index = 0; index < runs; index += 1) {
    const isFirst = index === 0;
    const result = simulate(seed + index, profile, {
      scenario: isFirst ? { ...scenario, draw: draws.drawFirst } : scenario,
      overrides: value,
    });
    if (isFirst) first = result;
    for (const [name, count] of Object.entries(result.coverage))
      coverage[name] = (coverage[name] ?? 0) + count;
    for (const call of result.history) operations[call.operation]![classifyOutcome(call)] += 1;
    if (result.violation === undefined) continue;
    const { result: simplest, overrides } = shrinkRun(result, profile, {
      scenario,
      overrides: value,
    });
    const { checker, message } = simplest.violation ?? result.violation;
    throw new ServiceCheckError(checker, message, result.seed, overrides, options.profile);
  }
  // Repeat the run: sites and model share state outside of the tables, so a generator that uses
  // such state has another result only in another run.
  const again = simulate(seed, profile, {
    scenario: { ...scenario, draw: draws.drawAgain },
    overrides: value,
  });
  const fail = (checker: string, message: string): never => {
    throw new ServiceCheckError(checker, message, seed, value, options.profile, runs);
  };
  // If the second run diverges, it draws the requests that only it makes.
  if (again.violation !== undefined && again.violation.checker !== 'draw')
    fail(again.violation.checker, again.violation.message);
  const difference = describeDifference((first as RunResult).history, again.history);
  if (difference !== undefined) fail('repetition', difference);
  return { runs, coverage, operations };
}

type CountedOutcome = { -readonly [K in keyof OperationCounts]: number };

function createCounts({ contract }: Service): Record<string, CountedOutcome> {
  const names = Object.keys(contract.operations);
  return Object.fromEntries(
    names.map((name) => [name, { blue: 0, red: 0, unchanged: 0, failed: 0 }]),
  );
}

function classifyOutcome({ shownColor, isChange }: ClientOperation): keyof OperationCounts {
  if (shownColor === undefined) return 'failed';
  return shownColor === 'none' || isChange !== true ? 'unchanged' : shownColor;
}

function createScenario(service: Service, draw: Scenario['draw']): Scenario {
  return {
    service,
    traits: getObservedTraits(service),
    draw,
    checkers: ({ thrown }) => [new GeneratorChecker(thrown)],
  };
}

function createDraws(service: Service, draw: SimulateServiceOptions['draw']): Scenario['draw'] {
  return ({ random, unique }) => {
    const operation = draw(createDrawContext(random, unique));
    const args = parseDrawnArgs(service, operation);
    return { operation: operation.name, args };
  };
}

function parseDrawnArgs({ contract }: Service, generated: Operation): Record<string, unknown> {
  try {
    if (!isRecord(generated)) return parseArgs(contract, generated) as Record<string, unknown>;
    // The operation is encoded and decoded as for a client, so a change of its arguments has no
    // effect.
    const sent = {
      ...generated,
      args: copyForWire(ParsedOperation.getInput(generated), 'args'),
    };
    return parseArgs(contract, sent) as Record<string, unknown>;
  } catch (error) {
    throw new PropertyViolation(
      `gave ${formatValue(generated)}: ${(error as Error).message}`,
      'draw',
    );
  }
}

const CALL = 'simulateService(service, { draw: ({ pick }) => shop.buy({ item: pick([…]) }) })';

export const SIMULATION_OPTIONS = {
  draw: required(
    matches(
      (value) => typeof value === 'function',
      'must be a function that gives an operation of the contract',
    ),
  ),
  principals: optional(anyValue),
  runs: optional(integer(), 100),
  seed: optional(anyValue, 1),
  profile: optional<Profile>(oneOf(...PROFILES), 'swarm'),
  overrides: optional(
    matches(isRecord, 'must be the circumstances that a ServiceCheckError names'),
  ),
} satisfies OptionsOf<SimulateServiceOptions>;

function readSimulationOptions(
  service: Service,
  options: SimulateServiceOptions,
): ResolvedOptions<SimulateServiceOptions, typeof SIMULATION_OPTIONS> {
  requireService(service, CALL);
  const resolved = readOptions(options, { call: CALL }, SIMULATION_OPTIONS);
  const max = getMaxFirstSeed(resolved.runs);
  checkOption(resolved.seed, 'seed', required(integer({ min: 0, max })));
  for (const [name, value] of Object.entries(resolved.overrides ?? {})) checkOverride(name, value);
  return resolved;
}

function checkOverride(name: string, value: unknown): void {
  // `drawOptions` draws every option, so its keys are the names of all options.
  const generated = drawOptions(0) as unknown as Readonly<Record<string, unknown>>;
  const field = `overrides.${name}`;
  const isKnown = Object.hasOwn(generated, name);
  check(isKnown, field, describeUnknownOption(name, Object.keys(generated)));
  const kind = typeof generated[name];
  check(
    value === undefined || typeof value === kind,
    field,
    `must be a ${kind}, not ${formatValue(value)}`,
  );
}

/** A drawn operation, and how many random numbers the draw used. */
interface RecordedDraw {
  readonly drawn: DrawnOperation;
  readonly count: number;
}

/**
 * The operations of one run. When the run is repeated, these are used again, whatever `draw` would
 * return then.
 */
class RepeatableDraws {
  readonly #draw: Scenario['draw'];
  readonly #draws = new Map<string, RecordedDraw>();

  constructor(draw: Scenario['draw']) {
    this.#draw = draw;
  }

  /** Draws an operation in the run that will be repeated. */
  readonly drawFirst = (from: DrawOptions): DrawnOperation => {
    const random = new CountedRandom(from.random);
    const generated = this.#draw({ ...from, random });
    this.#draws.set(from.unique, { drawn: generated, count: random.count });
    return generated;
  };

  /**
   * Returns the operations of the first run when it is repeated. Draws only those that the second
   * run needs in addition.
   */
  readonly drawAgain = (from: DrawOptions): DrawnOperation => {
    const retained = this.#draws.get(from.unique);
    if (retained === undefined) return this.#draw(from);
    for (let count = 0; count < retained.count; count += 1) from.random.bits();
    return retained.drawn;
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

/**
 * Describes the first call with different outcomes in the two runs. Returns `undefined` if there is
 * none.
 */
function describeDifference(
  first: readonly ClientOperation[],
  again: readonly ClientOperation[],
): string | undefined {
  const calls = new Map(again.map((call) => [call.id, call]));
  for (const before of first) {
    const after = calls.get(before.id);
    if (after !== undefined && isSameSent(getComparedParts(before), getComparedParts(after)))
      continue;
    const [item, other] = [
      describeOutcome(before),
      after === undefined ? 'not asked for' : describeOutcome(after),
    ];
    const call = `${before.operation}(${formatValue(before.args)})`;
    const otherwise = item === other ? 'otherwise, or at another time,' : other;
    return `${call} was ${item}, and ${otherwise} when the same run was repeated: ${PURITY_ADVICE}`;
  }
  return undefined;
}

function getComparedParts({
  replies,
  failures,
  shownColor,
  isChange,
  error,
}: ClientOperation): unknown {
  return { answers: replies, failures, shownAs: shownColor, isChange, error };
}

function describeOutcome({
  replies: [first],
  failures,
  shownColor,
  error,
}: ClientOperation): string {
  if (first === undefined) return `failed with ${error ?? failures.at(-1) ?? 'no reply'}`;
  const color = shownColor === undefined || shownColor === 'none' ? '' : ` (${shownColor})`;
  return `answered ${formatValue(first.value)}${color}`;
}
