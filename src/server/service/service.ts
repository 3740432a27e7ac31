/**
 * A service: a contract with its implementation, as tables, shadow operations with colors, and
 * generators (RedBlue, OSDI 2012, §5). It runs at the sites only.
 */
import type { Principal } from '../../correctable/binding.ts';
import { CorrectableError, check, createInvalidArgumentError } from '../../correctable/errors.ts';
import {
  checkMemberName,
  checkOptionNames,
  checkRecord,
  isRecord,
  type OptionNamesOf,
} from '../../correctable/validate.ts';
import type {
  Contract,
  OperationSpec,
  OperationSpecs,
  ParsedArgsOf,
  ResultInputOf,
} from '../../contract/contract.ts';
import type { Color } from './records/effect.ts';
import type { Throttle } from '../../correctable/throttle/concurrent-writes.ts';
import { DomainErrors, createReplyCheck, type DomainErrorFactory } from './domain-errors.ts';
import {
  checkColorInput,
  createServiceColors,
  getColors,
  getUncoloredWrites,
  type ServiceColors,
} from './colors.ts';
import type { ChosenShadow, UncertifiedResult, Reply, WithMeta } from './records/reply.ts';
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
import { createEffectTables, type EffectTables } from './effect-builders.ts';
import {
  checkInvariants,
  type DeclaredInvariants,
  type Invariants,
  type SnapshotInvariants,
} from './invariants.ts';
import type { Tables } from './tables.ts';

/**
 * Input of a generator. Use nothing else in a generator, so that a second run gives the same
 * result.
 */
export interface GeneratorContext<
  T extends Tables,
  S extends ShadowOperations,
  O extends OperationSpec = OperationSpec,
  C extends Colors = NoColors,
> {
  /** The tables at one snapshot. */
  readonly tables: TablesReader<T>;
  /**
   * Chooses a shadow operation: return its result. An operation that its contract declares blue has
   * only blue ones.
   */
  readonly shadow: ShadowBuilders<S, ColorOf<O>, C>;
  /**
   * A private copy of the snapshot to try shadow operations on.
   *
   * @example
   * for (const line of tables.lines.keys({ prefix: cart }))
   *   scratchpad.apply(shadow.removeLine({ line }, null));
   */
  readonly scratchpad: Scratchpad;
  /**
   * Creates the errors that the contract declares for the operation: throw one. The client receives
   * it with its data. Like a result, an error depends on what the generator has read. So it is
   * certified if the operation may be red.
   *
   * @example
   * if (balance < amount) throw errors.notEnough({ balance });
   */
  readonly errors: DomainErrorFactory<O>;
  /**
   * The user that the operation is executed for, as `authorize` of the gateway gets it: a frozen
   * copy, the same if the generator runs again. A gateway without `authenticate` gives all clients
   * the principal `{ id: '' }`. `undefined` if a client in this process submitted the operation,
   * unless its binding is one of `withPrincipal`.
   *
   * @example
   * if (tables.orders.row(order).owner !== principal?.id) throw errors.notYours();
   */
  readonly principal: Principal | undefined;
  /** When the client submitted the operation, in milliseconds since the epoch. */
  readonly now: number;
  /**
   * Returns an identifier that is unique at all sites, safe in a URL, and the same if the generator
   * runs again.
   */
  readonly uniqueId: () => string;
  /** Returns a number in [0, 1): the same sequence if the generator runs again. */
  readonly random: () => number;
}

/** The colors that the contract allows for an operation. */
type ColorOf<O extends OperationSpec> = O extends { readonly color: 'blue' } ? 'blue' : Color;

/**
 * Result of a generator: a plain result, which changes nothing, an `uncertified` one, or one chosen
 * shadow operation. A read chooses none. An operation that is declared red returns no `uncertified`
 * result.
 */
export type GeneratorResult<O extends OperationSpec, R = ResultInputOf<O>> =
  | R
  | WithMeta<R>
  | (O extends { readonly access: 'read' } ? never : ChosenShadow<R>)
  | (O extends { readonly access: 'read' } | { readonly color: 'red' }
      ? never
      : UncertifiedResult<R>);

/** One generator for each operation of the contract, or for those named in `G`. */
export type Generators<
  O extends OperationSpecs,
  T extends Tables,
  S extends ShadowOperations,
  G extends keyof O = keyof O,
  C extends Colors = NoColors,
> = {
  readonly [K in G]: (
    args: ParsedArgsOf<O[K]>,
    context: GeneratorContext<T, S, O[K], C>,
  ) => GeneratorResult<O[K]>;
};

/**
 * Requires all generators after inference. During inference, the compiler would blame the
 * generators that exist.
 */
type RequireGenerators<O extends OperationSpecs, G extends keyof O> = {
  readonly [
    K in Exclude<keyof O, G> & string as `defineService: no generator for the operation '${K}'`
  ]: never;
};

/** Requires a color of each shadow operation, if the compiler knows them. */
type RequireColors<S extends ShadowOperations, C extends Colors> = string extends keyof S
  ? unknown
  : {
      readonly [
        K in Exclude<Uncolored<S>, keyof C> &
          string as `defineService: no color for the shadow operation '${K}'`
      ]: never;
    };

/**
 * Implementation of a contract. `G` names the operations with a generator, and `C` has the colors
 * of `colors`.
 */
export interface ServiceImplementation<
  O extends OperationSpecs,
  T extends Tables,
  S extends ShadowOperations,
  G extends keyof O = keyof O,
  C extends Colors = NoColors,
> {
  readonly tables: T;
  /** Creates the shadow operations by name, from the builders of effects. */
  readonly shadowOperations: (tables: EffectTables<T>) => S;
  /** Colors of the shadow operations that `shadow` created. */
  readonly colors?: (C & FittingColors<S, C>) | undefined;
  readonly generators: Generators<O, T, S, G, C>;
  /**
   * Operations that are red, even if they choose a blue shadow operation. Their clients can retry
   * at another site if the first one is away. Any other operation that may be blue belongs to the
   * first site's log until it turns out red.
   */
  readonly alwaysRed?: readonly (keyof O & string)[] | undefined;
  /**
   * Red writes that share a limit at each site: at most `maxInFlight` in flight, each place used
   * once in `minSlotIntervalMs`. More wait at the site, before their preliminary view. Since every
   * site keeps the limit, a view can carry how much may happen elsewhere, for `getSafeThreshold`.
   * Name all operations that take from the same field.
   */
  readonly throttled?:
    | (Throttle & { readonly operations: readonly (keyof O & string)[] })
    | undefined;
  /**
   * Checked after every operation by `simulateService`, and at sites with `checkInvariants`: not in
   * production.
   */
  readonly invariants?: Invariants<T> | undefined;
  /**
   * Conditions on all tables together, for example that all names are unique. Checked like
   * `invariants`, after an operation changes a table that the condition read last time. A site
   * spends at most a twentieth of its time on it.
   */
  readonly snapshotInvariants?: SnapshotInvariants<T> | undefined;
}

const IMPLEMENTATION_PARTS: OptionNamesOf<
  ServiceImplementation<OperationSpecs, Tables, ShadowOperations>
> = {
  tables: true,
  shadowOperations: true,
  colors: true,
  generators: true,
  alwaysRed: true,
  throttled: true,
  invariants: true,
  snapshotInvariants: true,
};

export type AnyGenerator = (
  args: unknown,
  context: GeneratorContext<Tables, ShadowOperations>,
) => unknown;

/** The operations that share a limit, and the limit. */
export interface ServiceThrottle extends Throttle {
  readonly operations: ReadonlySet<string>;
}

/** A service that is ready to run at sites. */
export interface Service<O extends OperationSpecs = OperationSpecs>
  extends ServiceColors, DeclaredInvariants {
  readonly contract: Contract<O>;
  readonly tables: Tables;
  readonly shadowOperations: Readonly<Record<string, AnyShadowOperation>>;
  readonly generators: Readonly<Record<string, AnyGenerator>>;
  readonly alwaysRed: ReadonlySet<string>;
  readonly domainErrors: DomainErrors;
  readonly throttled?: ServiceThrottle | undefined;
  /**
   * Validate results of generators and shadow operations against the contract, by the name of the
   * operation. They throw `INVALID_VALUE` for an invalid one.
   */
  readonly resultChecks: Readonly<Record<string, (returned: unknown) => Reply>>;
}

/**
 * Creates a service from a contract and its implementation. Types are inferred from the tables to
 * the generators.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if an operation has no generator, or a generator no
 * operation.
 * @throws CorrectableError `INVALID_ARGUMENT` if a shadow operation has no color, or a color no
 * shadow operation.
 * @example
 * const bankService = defineService(bank, {
 *   tables: { accounts: table({ balance: counter() }) },
 *   shadowOperations: ({ accounts }) => ({
 *     deposit: blue((a: { account: string; amount: number }) => [
 *       accounts.row(a.account).balance.add(a.amount),
 *     ]),
 *   }),
 *   generators: {
 *     deposit: ({ account, amount }, { shadow }) =>
 *       shadow.deposit({ account, amount }, null),
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
    ...createServiceColors(
      contract,
      shadowOperations,
      getColors(made, implementation.colors),
      tables,
    ),
    generators: generators as unknown as Readonly<Record<string, AnyGenerator>>,
    alwaysRed: new Set([
      ...checkWriteNames('alwaysRed', contract, implementation.alwaysRed ?? []),
      ...getUncoloredWrites(contract, 'red'),
    ]),
    domainErrors: new DomainErrors(contract.operations),
    throttled: checkThrottle(contract, implementation.throttled),
    ...checkInvariants(tables, implementation),
    resultChecks: Object.fromEntries(
      Object.entries(contract.operations).map(([name, { result }]) => [
        name,
        createReplyCheck(name, result),
      ]),
    ),
  };
}

function checkNames(contract: Contract, generators: object): void {
  for (const name of Object.keys(contract.operations)) {
    if (!Object.hasOwn(generators, name)) {
      const message = `'${contract.name}' names the operation '${name}', but there is no generator for it. Add one.`;
      throw new CorrectableError('INVALID_ARGUMENT', message, {
        field: `generators.${name}`,
      });
    }
  }
  for (const name of Object.keys(generators)) {
    if (!Object.hasOwn(contract.operations, name)) {
      const message = `There is a generator '${name}', but '${contract.name}' has no such operation. Name it there.`;
      throw new CorrectableError('INVALID_ARGUMENT', message, {
        field: `generators.${name}`,
      });
    }
  }
}

function checkColors({ operations, name }: Contract): void {
  for (const [operation, { access, color }] of Object.entries(operations)) {
    const isColor = color === undefined || color === 'blue' || color === 'red';
    if (isColor && (color === undefined || access === 'write')) continue;
    const message = `'${name}': only writes have a color, 'blue' or 'red'; '${operation}' has ${access}, ${color}.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: `operations.${operation}.color`,
    });
  }
}

function checkWriteNames(
  field: string,
  contract: Contract,
  names: readonly string[],
): ReadonlySet<string> {
  for (const name of names) {
    const { access, color } = contract.operations[name] ?? {};
    if (access === 'write' && color !== 'blue') continue;
    const description = access === 'write' ? 'is declared blue in' : 'is not a write of';
    const problem = `'${name}' ${description} '${contract.name}'. Name writes only that may be red.`;
    throw createInvalidArgumentError(field, problem);
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
    Number.isSafeInteger(maxInFlight) &&
    maxInFlight >= 1 &&
    minSlotIntervalMs > 0 &&
    minSlotIntervalMs < Infinity;
  const rule =
    'maxInFlight must be a positive integer, and minSlotIntervalMs a positive number of milliseconds.';
  check(isThrottle, 'throttled', rule);
  const operations = checkWriteNames('throttled.operations', contract, value.operations);
  return { maxInFlight, minSlotIntervalMs, operations };
}

/**
 * Returns the same service with other colors of some shadow operations, however they were declared.
 * An operation that is declared red, or is in `alwaysRed`, stays red. One that is declared blue
 * fails if it chooses a newly red one.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the value is no service, or if a color matches no
 * shadow operation.
 * @example
 * // Does it have to be red?
 * simulateService(withColors(bankService, { withdraw: 'blue' }), { draw });
 */
export function withColors<S extends Service>(service: S, colors: Colors): S {
  requireService(service, "withColors(service, { withdraw: 'red' })");
  const { contract, shadowOperations, tables } = service;
  checkColorInput(shadowOperations, colors);
  return {
    ...service,
    ...createServiceColors(contract, shadowOperations, { ...service.colors, ...colors }, tables),
  };
}

const CREATED_HERE = Symbol('made by this copy of the package');

/** Marks each service that this copy of the package creates. Copies of the object keep the mark. */
const createdHere = { [CREATED_HERE]: true };

/**
 * Throws `INVALID_ARGUMENT` for a service of another copy of the package, whose effects look like
 * any value. `call` is the right call.
 */
export function requireService(value: unknown, call: string): void {
  check(
    isRecord((value as Partial<Service> | null | undefined)?.resultChecks),
    'service',
    `must be one made by defineService: write ${call}`,
  );
  const advice = 'let its module import it from where what runs the service is';
  check(
    CREATED_HERE in (value as object),
    'service',
    `was made by another copy of this package: ${advice}`,
  );
}

const CALL =
  'defineService(contract, { tables, shadowOperations: ({ accounts }) => ({ … }), generators: { … } })';

/** @throws CorrectableError `INVALID_ARGUMENT` naming the invalid part */
function checkImplementation(
  contract: unknown,
  value: unknown,
  parts: Readonly<Record<string, true>>,
): void {
  const isContract = isRecord(contract) && isRecord(contract['operations']);
  check(isContract, 'contract', `must be one made by defineContract: write ${CALL}`);
  checkRecord(value, { call: CALL, field: 'implementation' });
  checkOptionNames(value, { call: CALL }, parts);
  const {
    tables,
    shadowOperations,
    generators,
    alwaysRed = [],
  } = value as Readonly<Record<string, unknown>>;
  checkRecord(tables, {
    call: '{ tables: { accounts: table({ balance: counter() }) } }',
    field: 'tables',
  });
  for (const [name, table] of Object.entries(tables as object) as [string, unknown][]) {
    checkMemberName(name, `tables.${name}`);
    const isTable = isRecord(table) && isRecord(table['fields']);
    check(isTable, `tables.${name}`, 'must be made by table, as table({ balance: counter() })');
  }
  const isFunction = typeof shadowOperations === 'function';
  check(
    isFunction,
    'shadowOperations',
    'must be a function, as ({ accounts }) => ({ deposit: blue(…) })',
  );
  checkRecord(generators, {
    call: '{ generators: { deposit: (args, { shadow }) => … } }',
    field: 'generators',
  });
  for (const [name, generator] of Object.entries(generators as object) as [string, unknown][]) {
    check(
      typeof generator === 'function',
      `generators.${name}`,
      'must be a function, as (args, { shadow }) => …',
    );
  }
  check(Array.isArray(alwaysRed), 'alwaysRed', "must be a list of names, as ['dequeue']");
}

/**
 * @throws CorrectableError `INVALID_ARGUMENT` naming a shadow operation that none of `blue`, `red`
 * and `shadow` created
 */
function checkShadowOperations(value: unknown): void {
  checkRecord(value, {
    call: '({ accounts }) => ({ deposit: blue(…) })',
    field: 'shadowOperations',
  });
  for (const [name, operation] of Object.entries(value as object) as [string, unknown][]) {
    checkMemberName(name, `shadowOperations.${name}`);
    const isShadow = isRecord(operation) && typeof operation['effects'] === 'function';
    check(isShadow, `shadowOperations.${name}`, 'must be made by blue, red or shadow');
  }
}
