/**
 * A service: a contract with its implementation, as tables, shadow operations with colours, and generators
 * (RedBlue, OSDI 2012, §5). It runs at the sites only.
 */
import { CorrectableError, check } from '../../correctable/errors.ts';
import {
  checkMemberName,
  checkNamed,
  checkRecord,
  hasMethods,
  isRecord,
  type NamesOf,
} from '../../correctable/given.ts';
import type {
  Contract,
  OperationSpec,
  OperationSpecs,
  ParsedArgsOf,
  ResultInputOf,
} from '../../protocol/contract/contract.ts';
import type { Colour } from '../records/effect.ts';
import type { Pace } from '../../correctable/pace/unseen.ts';
import { Refusals, heldReply, heldResults, type RefusalBuilders } from './refusal.ts';
import { checkGiven, colouring, coloursOf, updatesOf, type Colouring } from './colours.ts';
import type { Chosen, Local, Reply, WithMeta } from '../records/reply.ts';
import type {
  AnyShadowOperation,
  Colours,
  FittingColours,
  NoColours,
  ShadowBuilders,
  ShadowOperations,
  Uncoloured,
} from './shadow-operation.ts';
import type { Scratchpad, TablesReader } from './readers.ts';
import { effectTables, type EffectTables } from './table-effects.ts';
import { declaredInvariants, type DeclaredInvariants, type Invariants, type SnapshotInvariants } from './invariants.ts';
import type { Tables } from './tables.ts';

/** What a generator works with. It must depend on nothing else, so that running it again gives the same. */
export interface GeneratorContext<
  T extends Tables,
  S extends ShadowOperations,
  O extends OperationSpec = OperationSpec,
  C extends Colours = NoColours,
> {
  /** The tables, as of one snapshot. */
  readonly tables: TablesReader<T>;
  /** Chooses a shadow operation: return what it gives. An operation that its contract declares blue has blue ones only. */
  readonly shadow: ShadowBuilders<S, ColourOf<O>, C>;
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
  readonly errors: RefusalBuilders<O>;
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

/** The colours that the contract leaves to the paths of an operation. */
type ColourOf<O extends OperationSpec> = O extends { readonly colour: 'blue' } ? 'blue' : Colour;

/**
 * What the generator of an operation returns: the result alone (nothing changes), `local` of it where that need not be
 * certified, or at most one chosen shadow operation. A read chooses nothing, and nothing is local that is declared red.
 */
export type Generated<O extends OperationSpec, R = ResultInputOf<O>> =
  | R
  | WithMeta<R>
  | (O extends { readonly effect: 'read' } ? never : Chosen<R>)
  | (O extends { readonly effect: 'read' } | { readonly colour: 'red' } ? never : Local<R>);

/** One generator an operation of the contract, or for those named in `G`. */
export type Generators<
  O extends OperationSpecs,
  T extends Tables,
  S extends ShadowOperations,
  G extends keyof O = keyof O,
  C extends Colours = NoColours,
> = {
  readonly [K in G]: (args: ParsedArgsOf<O[K]>, context: GeneratorContext<T, S, O[K], C>) => Generated<O[K]>;
};

/**
 * Nothing where the generators `G` are all; otherwise what no contract has, so that the compiler says it before all else.
 * That one is missing must not show in the inference: it would blame those that are there.
 */
type Complete<O extends OperationSpecs, G extends keyof O> = {
  readonly [K in Exclude<keyof O, G> & string as `defineService: no generator for the operation '${K}'`]: never;
};

/**
 * Nothing where each shadow operation has a colour, `C` those of `colours`; otherwise what no contract has. Nothing either
 * where the compiler does not know them yet: it looks at the contract first.
 */
type Coloured<S extends ShadowOperations, C extends Colours> = string extends keyof S
  ? unknown
  : {
      readonly [
        K in Exclude<Uncoloured<S>, keyof C> & string as `defineService: no colour for the shadow operation '${K}'`
      ]: never;
    };

/** The implementation of a contract; `G` are the operations that have a generator, `C` the colours that are given. */
export interface ServiceImplementation<
  O extends OperationSpecs,
  T extends Tables,
  S extends ShadowOperations,
  G extends keyof O = keyof O,
  C extends Colours = NoColours,
> {
  readonly tables: T;
  /** Shadow operations by name; they get the builders of effects. */
  readonly shadowOperations: (tables: EffectTables<T>) => S;
  /** The colours of those that `shadow` made. */
  readonly colours?: C & FittingColours<S, C>;
  readonly generators: Generators<O, T, S, G, C>;
  /**
   * Operations that are red whatever their generators choose. One that may be blue is bound to the log of the site that
   * it was sent to first, until it turns out to be red; one of these is bound to none, so that its client can go to
   * another site with it while that first one is out of reach.
   */
  readonly alwaysRed?: readonly (keyof O & string)[];
  /**
   * Red updates of which a site has only so many under way: `window`, each place used once in `turnMs`. More wait at the
   * site, before their preview. As every site keeps to it, previews can say what may happen elsewhere unknown to them:
   * their views carry it for `safeThreshold`. Name all that take from the same.
   */
  readonly paced?: Pace & { readonly operations: readonly (keyof O & string)[] };
  /** Checked after every operation by `checkService`, and at sites with `checkInvariants`: not in production. */
  readonly invariants?: Invariants<T>;
  /**
   * As `invariants`, of all tables together: what no row can show, such as that no two have one name. Checked after an
   * operation that changes a table which the condition read when it was last asked; at a site in a twentieth of the time.
   */
  readonly snapshotInvariants?: SnapshotInvariants<T>;
}

const PARTS: NamesOf<ServiceImplementation<OperationSpecs, Tables, ShadowOperations>> = {
  tables: true,
  shadowOperations: true,
  colours: true,
  generators: true,
  alwaysRed: true,
  paced: true,
  invariants: true,
  snapshotInvariants: true,
};

export type AnyGenerator = (args: unknown, context: GeneratorContext<Tables, ShadowOperations>) => unknown;

/** Which operations share the places, and how many there are. */
export interface ServicePace extends Pace {
  readonly operations: ReadonlySet<string>;
}

/** A service, ready to run at sites. */
export interface Service<O extends OperationSpecs = OperationSpecs> extends Colouring, DeclaredInvariants {
  readonly contract: Contract<O>;
  readonly tables: Tables;
  readonly shadowOperations: Readonly<Record<string, AnyShadowOperation>>;
  readonly generators: Readonly<Record<string, AnyGenerator>>;
  readonly alwaysRed: ReadonlySet<string>;
  readonly refusals: Refusals;
  readonly paced?: ServicePace | undefined;
  /** Holds what generators and shadow operations reply to the contract; throws `INVALID_VALUE`. */
  checkResult(operation: string, returned: unknown): Reply;
}

/**
 * Joins a contract with its implementation. Types flow from the tables to the shadow operations to the generators.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` when an operation of the contract has no generator or a generator no
 * operation, when a shadow operation has no colour or a colour no shadow operation.
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
  const C extends Colours = NoColours,
>(
  contract: Contract<O> & Complete<O, G> & Coloured<S, C>,
  implementation: ServiceImplementation<O, T, S, G, C>,
): Service<O> {
  checkImplementation(contract, implementation, PARTS);
  const { tables, generators } = implementation;
  checkNames(contract, generators);
  checkColours(contract);
  const made = implementation.shadowOperations(effectTables(tables));
  checkShadowOperations(made);
  const shadowOperations = made as Readonly<Record<string, AnyShadowOperation>>;
  return {
    ...madeHere,
    contract,
    tables,
    shadowOperations,
    ...colouring(contract, shadowOperations, coloursOf(made, implementation.colours), tables),
    generators: generators as unknown as Readonly<Record<string, AnyGenerator>>,
    alwaysRed: new Set([
      ...checkedUpdates('alwaysRed', contract, implementation.alwaysRed ?? []),
      ...updatesOf(contract, 'red'),
    ]),
    refusals: new Refusals(contract.operations),
    paced: checkedPace(contract, implementation.paced),
    ...declaredInvariants(tables, implementation),
    checkResult: resultChecker(contract),
  };
}

function resultChecker({ operations }: Contract): Service['checkResult'] {
  const check = heldResults(operations);
  return (operation, returned) => heldReply(check, operation, returned);
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

function checkColours({ operations, name }: Contract): void {
  for (const [operation, { effect, colour }] of Object.entries(operations)) {
    const isColour = colour === undefined || colour === 'blue' || colour === 'red';
    if (isColour && (colour === undefined || effect === 'update')) continue;
    const message = `'${name}': only updates have a colour, 'blue' or 'red'; '${operation}' has ${effect}, ${colour}.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: `operations.${operation}.colour` });
  }
}

function checkedUpdates(field: string, contract: Contract, names: readonly string[]): ReadonlySet<string> {
  for (const name of names) {
    const { effect, colour } = contract.operations[name] ?? {};
    if (effect === 'update' && colour !== 'blue') continue;
    const what = effect === 'update' ? 'is declared blue in' : 'is not an update of';
    const message = `${field}: '${name}' ${what} '${contract.name}'. Name updates only that may be red.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field });
  }
  return new Set(names);
}

function checkedPace(
  contract: Contract,
  given: (Pace & { readonly operations: readonly string[] }) | undefined,
): ServicePace | undefined {
  if (given === undefined) return undefined;
  const { window, turnMs } = given;
  const isPace = Number.isSafeInteger(window) && window >= 1 && turnMs > 0 && turnMs < Infinity;
  if (isPace) return { window, turnMs, operations: checkedUpdates('paced.operations', contract, given.operations) };
  const message = 'paced: window must be a whole number from 1 on, and turnMs a number of milliseconds above 0.';
  throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'paced' });
}

/**
 * The same service with other colours of some of its shadow operations, whoever said theirs. An operation that its contract
 * declares red, or `alwaysRed` names, stays red whichever it chooses; one that it declares blue fails where it chooses
 * what is red now.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for what is no service, and naming a colour that fits no shadow operation
 * @example
 * checkService(recoloured(bankService, { withdraw: 'blue' }), { draw }); // does it have to be red?
 */
export function recoloured<S extends Service>(service: S, colours: Colours): S {
  requireService(service, "recoloured(service, { withdraw: 'red' })");
  const { contract, shadowOperations, tables } = service;
  checkGiven(shadowOperations, colours);
  return { ...service, ...colouring(contract, shadowOperations, { ...service.colours, ...colours }, tables) };
}

const MADE_HERE = Symbol('made by this copy of the package');

/** Part of each service that this copy of the package makes, and of what is made of that. */
const madeHere = { [MADE_HERE]: true };

/**
 * What shadow operations of another copy give looks like any value here: each update would fail.
 *
 * @param call the right one, to show
 * @throws CorrectableError `INVALID_ARGUMENT` for what `defineService` of this copy did not make
 */
export function requireService(given: unknown, call: string): void {
  check(hasMethods(given, 'checkResult'), 'service', `must be one made by defineService: write ${call}`);
  const isHere = MADE_HERE in (given as object);
  check(
    isHere,
    'service',
    'was made by another copy of this package: let its module import it from where what runs the service is',
  );
}

const CALL = 'defineService(contract, { tables, shadowOperations: ({ accounts }) => ({ … }), generators: { … } })';

/** @throws CorrectableError `INVALID_ARGUMENT` naming the part that does not fit */
function checkImplementation(contract: unknown, given: unknown, parts: Readonly<Record<string, true>>): void {
  const isContract = isRecord(contract) && isRecord(contract['operations']);
  check(isContract, 'contract', `must be one made by defineContract: write ${CALL}`);
  checkRecord(given, { call: CALL, field: 'implementation' });
  checkNamed(given, { call: CALL }, parts);
  const { tables, shadowOperations, generators, alwaysRed = [] } = given as Readonly<Record<string, unknown>>;
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
function checkShadowOperations(given: unknown): void {
  checkRecord(given, { call: '({ accounts }) => ({ deposit: blue(…) })', field: 'shadowOperations' });
  for (const [name, operation] of Object.entries(given as object) as [string, unknown][]) {
    checkMemberName(name, `shadowOperations.${name}`);
    const isShadow = isRecord(operation) && typeof operation['effects'] === 'function';
    check(isShadow, `shadowOperations.${name}`, 'must be made by blue, red or shadow');
  }
}
