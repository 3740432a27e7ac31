/** Runs a generator on the model, and compares the outcome with that of a site. */
import type { Principal } from '../../../correctable/binding.ts';
import type { DomainErrorInfo } from '../../../correctable/errors.ts';
import { checkPortable } from '../../../protocol/codec/portable-values.ts';
import { formatValue } from '../../../server/check/values/format-values.ts';
import type { Effect } from '../../../server/service/records/effect.ts';
import { formatThrown as thrownText } from '../../../server/service/records/failures.ts';
import { freezeForUser, freezeArgsCopy } from '../../../values/deep-freeze.ts';
import { ThrownDomainError, type ReplyCheck } from '../../../server/service/domain-errors.ts';
import {
  ChosenShadow,
  UncertifiedResult,
  toReply,
  type Choice,
  type Reply,
} from '../../../server/service/records/reply.ts';
import type { Service } from '../../../server/service/service.ts';
import { Random } from '../../../server/service/collections/random.ts';
import {
  compareBySeen,
  isLedger,
  createLedgerView,
  type ModelOperation,
} from './model-operation.ts';
import type { ModelEntry, ModelView } from './model.ts';
import { isSameSentList, isSameReply, isSameSent } from './compare-sent.ts';
import { EffectValidator } from '../../../server/service/effect-validator.ts';
import { sumTakes } from '../../../server/service/bounded-takes.ts';
import type { ScanOptions } from '../../../server/service/records/read-range.ts';
import type { Table, Tables } from '../../../server/service/tables.ts';

/** The input of a run, beside the state. */
export interface RunInput extends RightsOf {
  /** The name of its site and start, as in the identifiers that it draws. */
  readonly name: string;
  readonly serial: number;
  readonly operation: string;
  readonly args: unknown;
  readonly submittedAtMs: number;
  readonly seed: number;
  /** The user that it was executed for. */
  readonly principal?: Principal | undefined;
}

/** Whose rights a generator reads. */
interface RightsOf {
  readonly site?: number;
  /** The closed origins that the site knew. Their rights count as used. */
  readonly closed?: readonly number[];
}

/**
 * The outcome of a run. It is only a failure if the generator threw, or returned a value that no
 * site accepts.
 */
export interface Outcome {
  readonly hasFailed: boolean;
  /** The cause of the failure, for messages. */
  readonly reason?: string | undefined;
  readonly shadow?: string | undefined;
  readonly effects: readonly Effect[];
  readonly args?: unknown;
  /** Absent if the shadow operation makes the reply. */
  readonly reply?: Reply | undefined;
  /** The domain error that the generator threw instead of a reply. */
  readonly domainError?: DomainErrorInfo | undefined;
}

const NONE: Reply = { value: undefined };
/** Later than all times and places of a run. */
const LATEST_PLACE = 8e15;
/** More lists than there are sites. */
const MAX_LISTS = 64;

/** Runs the generator of `input` on `view`. */
export function execute(service: Service, view: () => ModelView, input: RunInput): Outcome {
  const { operation } = input;
  try {
    const returned = service.generators[operation]?.(
      freezeArgsCopy(input.args),
      createContext(service, view, input) as never,
    );
    if (returned instanceof ThrownDomainError) throw returned;
    if (!(returned instanceof ChosenShadow)) {
      if (returned instanceof UncertifiedResult) checkMayBeLocal(service, operation);
      const result = returned instanceof UncertifiedResult ? returned.result : returned;
      return {
        hasFailed: false,
        effects: [],
        reply: toPortableReply(checkResult(service, operation, result)),
      };
    }
    const { shadow, effects, args, reply, color } = returned.choice;
    checkOutcome(service, operation, returned.choice);
    const makesReply = color === 'red' && service.shadowOperations[shadow]?.reply !== undefined;
    const value = makesReply ? undefined : toPortableReply(checkResult(service, operation, reply));
    return { hasFailed: false, shadow, effects, args, reply: value };
  } catch (error) {
    const isRefusal =
      error instanceof ThrownDomainError && service.domainErrors.declares(operation, error);
    return isRefusal ? toDomainOutcome(service, operation, error) : toFailedOutcome(error);
  }
}

function checkResult({ resultChecks }: Service, operation: string, returned: unknown): Reply {
  return (resultChecks[operation] as ReplyCheck)(returned);
}

function toDomainOutcome(
  { domainErrors }: Service,
  operation: string,
  rejection: ThrownDomainError,
): Outcome {
  try {
    const { domain } = domainErrors.toClientError(operation, rejection);
    checkPortable(domain?.data, 'errors');
    return { hasFailed: false, effects: [], domainError: domain };
  } catch (error) {
    return toFailedOutcome(error);
  }
}

function toFailedOutcome(thrown: unknown): Outcome {
  return { hasFailed: true, reason: thrownText(thrown), effects: [] };
}

/**
 * Returns the reply of the operation if its effects are applied to `view`. Returns `undefined` if
 * that fails.
 */
export function createReplyAt(
  service: Service,
  view: ModelView,
  by: ModelOperation,
  executed: Outcome & { readonly operation: string },
): Reply | undefined {
  const results = executed.effects.map((effect, index) => view.apply({ by, index, effect }));
  const makeReply =
    executed.shadow === undefined ? undefined : service.shadowOperations[executed.shadow]?.reply;
  if (makeReply === undefined || executed.reply !== undefined) return executed.reply;
  try {
    return toPortableReply(
      checkResult(
        service,
        executed.operation,
        makeReply(results.map(freezeForUser), freezeArgsCopy(executed.args)),
      ),
    );
  } catch {
    return undefined;
  }
}

/** Returns the preliminary view of an operation from this run. Its effects come last. */
export function createPreliminary(
  service: Service,
  view: ModelView,
  executed: Outcome & { readonly operation: string },
): unknown {
  const seen = Array.from({ length: MAX_LISTS }, () => LATEST_PLACE);
  const by = {
    list: MAX_LISTS - 1,
    place: LATEST_PLACE + 1,
    seen,
    time: LATEST_PLACE + 1,
    site: 0,
  };
  return createReplyAt(service, view, by, executed)?.value;
}

function createContext(service: Service, view: () => ModelView, input: RunInput): object {
  const random = new Random(input.seed);
  const scratch = new ModelScratchpad(service, view);
  let ids = 0;
  const parts = {
    tables: scratch.getTables(input),
    shadow: service.shadowBuilders,
    errors: service.domainErrors.getFactories(input.operation),
    scratchpad: scratch,
    principal: input.principal,
    now: input.submittedAtMs,
    uniqueId: () => `${input.name}.${input.serial}.${ids++}`,
    random: () => random.fraction(),
  };
  // As at a site, it has no enumerable properties that could be copied.
  return Object.create(Object.freeze(parts)) as object;
}

/**
 * A generator's scratchpad: a view of its own, on which each tried operation comes after all
 * others.
 */
class ModelScratchpad {
  readonly #service: Service;
  readonly #snapshot: () => ModelView;
  #view: ModelView;
  #tried = 0;

  constructor(service: Service, snapshot: () => ModelView) {
    this.#service = service;
    this.#snapshot = snapshot;
    this.#view = snapshot();
    Object.freeze(this);
  }

  static {
    Object.freeze(this.prototype);
  }

  getTables(by: RightsOf): Readonly<Record<string, unknown>> {
    return createModelReaders(this.#service.tables, () => this.#view, by);
  }

  apply({ choice }: ChosenShadow<unknown>): unknown {
    this.#tried += 1;
    const place = LATEST_PLACE + this.#tried;
    const seen = Array.from({ length: MAX_LISTS }, () => place - 1);
    const by = { list: MAX_LISTS - 1, place, seen, time: place, site: 0 };
    const { shadow, args, effects, reply } = choice;
    const results = effects.map((effect, index) => this.#view.apply({ by, index, effect }));
    const makeReply = this.#service.shadowOperations[shadow]?.reply;
    return toReply(
      makeReply === undefined ? reply : makeReply(results.map(freezeForUser), freezeArgsCopy(args)),
    ).value;
  }

  discard(): void {
    this.#view = this.#snapshot();
  }
}

export function isSame(a: Outcome, b: Outcome): boolean {
  if (a.hasFailed || b.hasFailed) return a.hasFailed === b.hasFailed;
  const isSameAnswer =
    isSameReply(a.reply ?? NONE, b.reply ?? NONE) && isSameSent(a.domainError, b.domainError);
  return a.shadow === b.shadow && isSameSentList(a.effects, b.effects) && isSameAnswer;
}

export function describeOutcome({
  hasFailed: isFailed,
  reason,
  shadow,
  effects,
  reply,
  domainError,
}: Outcome): string {
  if (isFailed) return reason === undefined ? 'fails' : `fails (${reason})`;
  if (domainError !== undefined)
    return `refuses: ${domainError.name} ${formatValue(domainError.data)}`;
  const changes = effects.map(
    ({ table, key, field, action, value }) =>
      `${table}.${key}.${field}.${action}(${formatValue(value)})`,
  );
  return `${shadow ?? 'nothing'} [${changes.join(', ')}] → ${formatValue(reply?.value)}`;
}

/** @throws Error with the description of the fault */
function checkOutcome(service: Service, operation: string, choice: Choice): void {
  const { shadow, color, effects } = choice;
  if (color !== 'red' && color !== service.colors[shadow])
    throw new Error(`'${shadow}' is none of that color`);
  const known = new EffectValidator(service.tables);
  for (const effect of effects) {
    const problem = known.describeChosenProblem(effect);
    if (problem !== undefined) throw new Error(problem);
    if (color === 'blue' && known.requiresRed(effect))
      throw new Error(`'${shadow}' is blue and may not`);
    for (const part of [effect.table, effect.key, effect.field, effect.action, effect.value])
      checkPortable(part, 'effects');
    if (typeof effect.key !== 'string') throw new Error('the key of a row is text');
  }
  if (color === 'red') checkPortable(choice.args, 'shadow');
  const mayWait = color === 'red' || sumTakes(service.tables, effects).length > 0;
  const isDeclaredBlue = service.contract.operations[operation]?.color === 'blue';
  if (isDeclaredBlue && mayWait)
    throw new Error(`it is declared blue, and '${shadow}' may have to wait`);
}

/** @throws Error as `checkOutcome` */
function toPortableReply(reply: Reply): Reply {
  checkPortable(reply.value, 'result');
  if (reply.meta !== undefined) checkPortable(reply.meta, 'meta');
  return reply;
}

/**
 * `uncertified()` is allowed only for operations that could have been answered early. @throws Error
 * as `checkOutcome`
 */
function checkMayBeLocal({ contract }: Service, operation: string): void {
  if (contract.operations[operation]?.color === 'red')
    throw new Error('it is declared red and returned uncertified()');
}

type Scan = (options?: ScanOptions) => readonly string[];

/**
 * Returns the `tables` of generators. They read the view of that moment. At a site, there may be
 * none.
 */
function createModelReaders(
  tables: Tables,
  view: () => ModelView,
  by: RightsOf,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(tables).map(([name, table]) => [name, createTableReader(name, table, view, by)]),
  );
}

function createTableReader(
  name: string,
  table: Table,
  view: () => ModelView,
  by: RightsOf,
): unknown {
  const scans: Record<string, Scan> = {};
  for (const field of table.indexes)
    scans[field] = (options) => scanEntries(view().entries(name, field), options);
  return {
    row: (key: string) =>
      createRowReader(table, (field) => toShownValue(view().read(name, key, field), by)),
    has: (key: string) => view().has(name, key),
    keys: (options?: ScanOptions) => scanEntries(getKeyEntries(name, view()), options),
    by: scans,
  };
}

/** As at a site, its fields are inherited properties. */
function createRowReader({ fields }: Table, read: (field: string) => unknown): object {
  const getters = {};
  for (const field of Object.keys(fields)) {
    Object.defineProperty(getters, field, {
      enumerable: true,
      get: () => read(field),
    });
  }
  return Object.create(Object.freeze(getters)) as object;
}

function toShownValue(value: unknown, { site, closed }: RightsOf): unknown {
  return isLedger(value) && 'holdings' in value
    ? createLedgerView(value, site, closed)
    : freezeForUser(value);
}

const getKeyEntries = (table: string, view: ModelView): readonly ModelEntry[] =>
  view.keys(table).map((key) => ({ value: key, key }));

function scanEntries(entries: readonly ModelEntry[], options: ScanOptions = {}): readonly string[] {
  const { equals, prefix, from, before, limit = Infinity, reverse = false } = options;
  if (limit !== Infinity && !(Number.isInteger(limit) && limit >= 0))
    throw new Error(`no limit: ${limit}`);
  const found = entries.filter(
    ({ value }) =>
      (equals === undefined || value === equals) &&
      (prefix === undefined || (typeof value === 'string' && value.startsWith(prefix))) &&
      (from === undefined || compareBySeen(value, from) >= 0) &&
      (before === undefined || compareBySeen(value, before) < 0),
  );
  const keys = (reverse ? found.toReversed() : found).map(({ key }) => key);
  return [...new Set(keys)].slice(0, limit);
}
