/**
 * A service: a contract with its implementation, as tables, shadow operations with colors, and generators
 * (RedBlue, OSDI 2012, §5). It runs at the sites only.
 */
import { CorrectableError, check } from '../../correctable/errors.ts';
import {
  checkMemberName,
  checkOptionNames,
  checkRecord,
  hasMethods,
  isRecord,
  type OptionNamesOf,
} from '../../correctable/validate.ts';
import type {
  Contract,
  OperationSpec,
  OperationSpecs,
  ParsedArgsOf,
  ResultInputOf,
} from '../../protocol/contract/contract.ts';
import type { Color } from '../records/effect.ts';
import type { Throttle } from '../../correctable/throttle/concurrent-writes.ts';
import { DomainErrors, checkReply, createServiceResultCheck, type DomainErrorFactory } from './domain-errors.ts';
import { checkColorInput, createServiceColors, getColors, getUncoloredWrites, type ServiceColors } from './colors.ts';
import type { ChosenShadow, UncertifiedResult, Reply, WithMeta } from '../records/reply.ts';
import type {
  AnyShadowOperation,
  Colors,
  FittingColors,
  NoColors,
  ShadowBuilders,
  ShadowOperations,
  Uncolored,
} from './shadow-operation.ts';
import type { Scratchpad, TablesReader } from './readers.ts';
import { createEffectTables, type EffectTables } from './table-effects.ts';
import { checkInvariants, type DeclaredInvariants, type Invariants, type SnapshotInvariants } from './invariants.ts';
import type { Tables } from './tables.ts';

/** What a generator works with. It must depend on nothing else, so that running it again gives the same. */
export interface GeneratorContext<
  T extends Tables,
  S extends ShadowOperations,
  O extends OperationSpec = OperationSpec,
  C extends Colors = NoColors,
> {
  /** The tables, as of one snapshot. */
  readonly tables: TablesReader<T>;
  /** Chooses a shadow operation: return what it gives. An operation that its contract declares blue has blue ones only. */
  readonly shadow: ShadowBuilders<S, ColorOf<O>, C>;
  /**
   * A private copy of the snapshot to try shadow operations on.
   *
   * @example
   * for (const line of tables.lines.keys({ prefix: cart })) scratchpad.apply(shadow.removeLine({ line }, null));
   */
  readonly scratchpad: Scratchpad;
  /**
   * The errors that the contract declares for the operation: throw what one gives. It reaches the client with its data. A
   * refusal rests on what the generator has read, as a result does: it is certified where the operation may be red.
   *
   * @example
   * if (balance < amount) throw errors.notEnough({ balance });
   */
  readonly errors: DomainErrorFactory<O>;
  /** When the operation was submitted, in milliseconds since the epoch. */
  readonly now: number;
  /**
   * Returns an identifier that no other operation at any site gets; the same when the generator runs again. It has only
   * characters that can stand in a URL as they are.
   */
  readonly uniqueId: () => string;
  /** A number in [0, 1); the same sequence when the generator runs again. */
  readonly random: () => number;
}

/** The colors that the contract leaves to the paths of an operation. */
type ColorOf<O extends OperationSpec> = O extends { readonly color: 'blue' } ? 'blue' : Color;

/**
 * What the generator of an operation returns: the result alone (nothing changes), `local` of it where that need not be
 * certified, or at most one chosen shadow operation. A read chooses nothing, and nothing is local that is declared red.
 */
export type GeneratorResult<O extends OperationSpec, R = ResultInputOf<O>> =
  | R
  | WithMeta<R>
  | (O extends { readonly access: 'read' } ? never : ChosenShadow<R>)
  | (O extends { readonly access: 'read' } | { readonly color: 'red' } ? never : UncertifiedResult<R>);

/** One generator an operation of the contract, or for those named in `G`. */
export type Generators<
  O extends OperationSpecs,
  T extends Tables,
  S extends ShadowOperations,
  G extends keyof O = keyof O,
  C extends Colors = NoColors,
> = {
  readonly [K in G]: (args: ParsedArgsOf<O[K]>, context: GeneratorContext<T, S, O[K], C>) => GeneratorResult<O[K]>;
};

/**
 * Nothing where the generators `G` are all; otherwise what no contract has, so that the compiler says it before all else.
 * That one is missing must not show in the inference: it would blame those that are there.
 */
type RequireGenerators<O extends OperationSpecs, G extends keyof O> = {
  readonly [K in Exclude<keyof O, G> & string as `defineService: no generator for the operation '${K}'`]: never;
};

/**
 * Nothing where each shadow operation has a color, `C` those of `colors`; otherwise what no contract has. Nothing either
 * where the compiler does not know them yet: it looks at the contract first.
 */
type RequireColors<S extends ShadowOperations, C extends Colors> = string extends keyof S
  ? unknown
  : {
      readonly [
        K in Exclude<Uncolored<S>, keyof C> & string as `defineService: no color for the shadow operation '${K}'`
      ]: never;
    };

/** The implementation of a contract; `G` are the operations that have a generator, `C` the colors that are given. */
export interface ServiceImplementation<
  O extends OperationSpecs,
  T extends Tables,
  S extends ShadowOperations,
  G extends keyof O = keyof O,
  C extends Colors = NoColors,
> {
  readonly tables: T;
  /** Shadow operations by name; they get the builders of effects. */
  readonly shadowOperations: (tables: EffectTables<T>) => S;
  /** The colors of those that `shadow` made. */
  readonly colors?: C & FittingColors<S, C>;
  readonly generators: Generators<O, T, S, G, C>;
  /**
   * Operations that are red whatever their generators choose. One that may be blue is bound to the log of the site that
   * it was sent to first, until it turns out to be red; one of these is bound to none, so that its client can go to
   * another site with it while that first one is out of reach.
   */
  readonly alwaysRed?: readonly (keyof O & string)[];
  /**
   * Red updates of which a site has only so many in flight: `window`, each place used once in `minSlotIntervalMs`.
   * More wait at the
   * site, before their preview. As every site keeps to it, previews can say what may happen elsewhere unknown to them:
   * their views carry it for `getSafeThreshold`. Name all that take from the same.
   */
  readonly throttled?: Throttle & { readonly operations: readonly (keyof O & string)[] };
  /** Checked after every operation by `simulateService`, and at sites with `checkInvariants`: not in production. */
  readonly invariants?: Invariants<T>;
  /**
   * As `invariants`, of all tables together: what no row can show, such as that no two have one name. Checked after an
   * operation that changes a table which the condition read when it was last asked; at a site in a twentieth of the time.
   */
  readonly snapshotInvariants?: SnapshotInvariants<T>;
}

const IMPLEMENTATION_PARTS: OptionNamesOf<ServiceImplementation<OperationSpecs, Tables, ShadowOperations>> = {
  tables: true,
  shadowOperations: true,
  colors: true,
  generators: true,
  alwaysRed: true,
  throttled: true,
  invariants: true,
  snapshotInvariants: true,
};

export type AnyGenerator = (args: unknown, context: GeneratorContext<Tables, ShadowOperations>) => unknown;

/** Which operations share the places, and how many there are. */
export interface ServiceThrottle extends Throttle {
  readonly operations: ReadonlySet<string>;
}

/** A service, ready to run at sites. */
export interface Service<O extends OperationSpecs = OperationSpecs> extends ServiceColors, DeclaredInvariants {
  readonly contract: Contract<O>;
  readonly tables: Tables;
  readonly shadowOperations: Readonly<Record<string, AnyShadowOperation>>;
  readonly generators: Readonly<Record<string, AnyGenerator>>;
  readonly alwaysRed: ReadonlySet<string>;
  readonly domainErrors: DomainErrors;
  readonly throttled?: ServiceThrottle | undefined;
  /** Holds what generators and shadow operations reply to the contract; throws `INVALID_VALUE`. */
  checkResult(operation: string, returned: unknown): Reply;
}

/**
 * Joins a contract with its implementation. Types flow from the tables to the shadow operations to the generators.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` when an operation of the contract has no generator or a generator no
 * operation, when a shadow operation has no color or a color no shadow operation.
 * @example
 * const bankService = defineService(bank, {
 *   tables: { accounts: table({ balance: counter() }) },
 *   shadowOperations: ({ accounts }) => ({
 *     deposit: blue((a: { account: string; amount: number }) => [accounts.row(a.account).balance.add(a.amount)]),
 *   }),
 *   generators: {
 *     deposit: ({ account, amount }, { shadow }) => shadow.deposit({ account, amount }, null),
 *   },
 * });
 */
export function defineService<
  const O extends OperationSpecs,
  const T extends Tables,
  const S extends ShadowOperations,
  G extends keyof O,
  const C extends Colors = NoColors,
>(
  contract: Contract<O> & RequireGenerators<O, G> & RequireColors<S, C>,
  implementation: ServiceImplementation<O, T, S, G, C>,
): Service<O> {
  checkImplementation(contract, implementation, IMPLEMENTATION_PARTS);
  const { tables, generators } = implementation;
  checkNames(contract, generators);
  checkColors(contract);
  const made = implementation.shadowOperations(createEffectTables(tables));
  checkShadowOperations(made);
  const shadowOperations = made as Readonly<Record<string, AnyShadowOperation>>;
  return {
    ...createdHere,
    contract,
    tables,
    shadowOperations,
    ...createServiceColors(contract, shadowOperations, getColors(made, implementation.colors), tables),
    generators: generators as unknown as Readonly<Record<string, AnyGenerator>>,
    alwaysRed: new Set([
      ...checkWriteNames('alwaysRed', contract, implementation.alwaysRed ?? []),
      ...getUncoloredWrites(contract, 'red'),
    ]),
    domainErrors: new DomainErrors(contract.operations),
    throttled: checkThrottle(contract, implementation.throttled),
    ...checkInvariants(tables, implementation),
    checkResult: createResultChecker(contract),
  };
}

function createResultChecker({ operations }: Contract): Service['checkResult'] {
  const check = createServiceResultCheck(operations);
  return (operation, returned) => checkReply(check, operation, returned);
}

function checkNames(contract: Contract, generators: object): void {
  for (const name of Object.keys(contract.operations)) {
    if (!Object.hasOwn(generators, name)) {
      const message = `'${contract.name}' names the operation '${name}', but there is no generator for it. Add one.`;
      throw new CorrectableError('INVALID_ARGUMENT', message, { field: `generators.${name}` });
    }
  }
  for (const name of Object.keys(generators)) {
    if (!Object.hasOwn(contract.operations, name)) {
      const message = `There is a generator '${name}', but '${contract.name}' has no such operation. Name it there.`;
      throw new CorrectableError('INVALID_ARGUMENT', message, { field: `generators.${name}` });
    }
  }
}

function checkColors({ operations, name }: Contract): void {
  for (const [operation, { access, color }] of Object.entries(operations)) {
    const isColor = color === undefined || color === 'blue' || color === 'red';
    if (isColor && (color === undefined || access === 'write')) continue;
    const message = `'${name}': only updates have a color, 'blue' or 'red'; '${operation}' has ${access}, ${color}.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: `operations.${operation}.color` });
  }
}

function checkWriteNames(field: string, contract: Contract, names: readonly string[]): ReadonlySet<string> {
  for (const name of names) {
    const { access, color } = contract.operations[name] ?? {};
    if (access === 'write' && color !== 'blue') continue;
    const description = access === 'write' ? 'is declared blue in' : 'is not an update of';
    const message = `${field}: '${name}' ${description} '${contract.name}'. Name updates only that may be red.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field });
  }
  return new Set(names);
}

function checkThrottle(
  contract: Contract,
  value: (Throttle & { readonly operations: readonly string[] }) | undefined,
): ServiceThrottle | undefined {
  if (value === undefined) return undefined;
  const { maxInFlight, minSlotIntervalMs } = value;
  const isThrottle =
    Number.isSafeInteger(maxInFlight) && maxInFlight >= 1 && minSlotIntervalMs > 0 && minSlotIntervalMs < Infinity;
  if (isThrottle)
    return {
      maxInFlight,
      minSlotIntervalMs,
      operations: checkWriteNames('throttled.operations', contract, value.operations),
    };
  const message =
    'throttled: maxInFlight must be a positive integer, and minSlotIntervalMs a positive number of milliseconds.';
  throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'throttled' });
}

/**
 * The same service with other colors of some of its shadow operations, whoever said theirs. An operation that its contract
 * declares red, or `alwaysRed` names, stays red whichever it chooses; one that it declares blue fails where it chooses
 * what is red now.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for what is no service, and naming a color that fits no shadow operation
 * @example
 * simulateService(withColors(bankService, { withdraw: 'blue' }), { draw }); // does it have to be red?
 */
export function withColors<S extends Service>(service: S, colors: Colors): S {
  requireService(service, "withColors(service, { withdraw: 'red' })");
  const { contract, shadowOperations, tables } = service;
  checkColorInput(shadowOperations, colors);
  return { ...service, ...createServiceColors(contract, shadowOperations, { ...service.colors, ...colors }, tables) };
}

const CREATED_HERE = Symbol('made by this copy of the package');

/** Part of each service that this copy of the package makes, and of what is made of that. */
const createdHere = { [CREATED_HERE]: true };

/**
 * What shadow operations of another copy give looks like any value here: each update would fail.
 *
 * @param call the right one, to show
 * @throws CorrectableError `INVALID_ARGUMENT` for what `defineService` of this copy did not make
 */
export function requireService(value: unknown, call: string): void {
  check(hasMethods(value, 'checkResult'), 'service', `must be one made by defineService: write ${call}`);
  const isHere = CREATED_HERE in (value as object);
  check(
    isHere,
    'service',
    'was made by another copy of this package: let its module import it from where what runs the service is',
  );
}

const CALL = 'defineService(contract, { tables, shadowOperations: ({ accounts }) => ({ … }), generators: { … } })';

/** @throws CorrectableError `INVALID_ARGUMENT` naming the part that does not fit */
function checkImplementation(contract: unknown, value: unknown, parts: Readonly<Record<string, true>>): void {
  const isContract = isRecord(contract) && isRecord(contract['operations']);
  check(isContract, 'contract', `must be one made by defineContract: write ${CALL}`);
  checkRecord(value, { call: CALL, field: 'implementation' });
  checkOptionNames(value, { call: CALL }, parts);
  const { tables, shadowOperations, generators, alwaysRed = [] } = value as Readonly<Record<string, unknown>>;
  checkRecord(tables, { call: '{ tables: { accounts: table({ balance: counter() }) } }', field: 'tables' });
  for (const [name, table] of Object.entries(tables as object) as [string, unknown][]) {
    checkMemberName(name, `tables.${name}`);
    const isTable = isRecord(table) && isRecord(table['fields']);
    check(isTable, `tables.${name}`, 'must be made by table, as table({ balance: counter() })');
  }
  const isFunction = typeof shadowOperations === 'function';
  check(isFunction, 'shadowOperations', 'must be a function, as ({ accounts }) => ({ deposit: blue(…) })');
  checkRecord(generators, { call: '{ generators: { deposit: (args, { shadow }) => … } }', field: 'generators' });
  for (const [name, generator] of Object.entries(generators as object) as [string, unknown][]) {
    check(typeof generator === 'function', `generators.${name}`, 'must be a function, as (args, { shadow }) => …');
  }
  check(Array.isArray(alwaysRed), 'alwaysRed', "must be a list of names, as ['dequeue']");
}

/** @throws CorrectableError `INVALID_ARGUMENT` naming the one that none of `blue`, `red` and `shadow` made */
function checkShadowOperations(value: unknown): void {
  checkRecord(value, { call: '({ accounts }) => ({ deposit: blue(…) })', field: 'shadowOperations' });
  for (const [name, operation] of Object.entries(value as object) as [string, unknown][]) {
    checkMemberName(name, `shadowOperations.${name}`);
    const isShadow = isRecord(operation) && typeof operation['effects'] === 'function';
    check(isShadow, `shadowOperations.${name}`, 'must be made by blue, red or shadow');
  }
}
