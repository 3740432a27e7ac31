/** Runs a generator on the model, and says whether that gave the same as at a site. */
import type { DomainRefusal } from '../../../correctable/errors.ts';
import { checkPortable } from '../../../protocol/codec/check-portable.ts';
import type { Effect } from '../../../server/records/effect.ts';
import { textOf as thrownText } from '../../../server/records/failure.ts';
import { handedOut, keptArgs } from '../../../values/frozen.ts';
import { Refusal } from '../../../server/service/refusal.ts';
import { Chosen, Local, replyOf, type Choice, type Reply } from '../../../server/records/reply.ts';
import type { Service } from '../../../server/service/service.ts';
import { Random } from '../../../server/collections/random.ts';
import { compare, isLedger, ledgerViewAt, type ModelOperation } from './changes.ts';
import type { ModelEntry, ModelView } from './model.ts';
import { areSameSent, isSameReply, isSameSent } from './sent.ts';
import { KnownEffects } from '../../../server/service/known-effects.ts';
import { takesOf } from '../../../server/service/takes.ts';
import type { ScanOptions } from '../../../server/records/key-range.ts';
import type { Table, Tables } from '../../../server/service/tables.ts';

/** What a run is a function of, beside the state. */
export interface RunInput {
  /** Where it ran, as in the identifiers that it draws. */
  readonly name: string;
  readonly serial: number;
  readonly operation: string;
  readonly args: unknown;
  readonly submittedAtMs: number;
  readonly seed: number;
  /** Whose rights its generator reads. */
  readonly site?: number;
}

/** What came of a run: nothing but a failure where the generator threw, or gave what no site takes. */
export interface Outcome {
  readonly failed: boolean;
  /** Why it failed, for messages. */
  readonly why?: string | undefined;
  readonly shadow?: string | undefined;
  readonly effects: readonly Effect[];
  readonly args?: unknown;
  /** None where the shadow operation makes it. */
  readonly reply?: Reply | undefined;
  /** In its place: the error of the domain that the generator threw. */
  readonly refusal?: DomainRefusal | undefined;
}

const NONE: Reply = { value: undefined };
/** Beyond all times and places of a run. */
const LATER = 8e15;
/** More lists than there are sites. */
const LISTS_MAX = 64;

/** Runs the generator of `input` on `view`. */
export function execute(service: Service, view: () => ModelView, input: RunInput): Outcome {
  const { operation } = input;
  try {
    const returned = service.generators[operation]?.(keptArgs(input.args), contextOf(service, view, input) as never);
    if (returned instanceof Refusal) throw returned;
    if (!(returned instanceof Chosen)) {
      if (returned instanceof Local) checkMayBeLocal(service, operation);
      const result = returned instanceof Local ? returned.result : returned;
      return { failed: false, effects: [], reply: takenReply(service.checkResult(operation, result)) };
    }
    const { shadow, effects, args, reply, colour } = returned.choice;
    checkTaken(service, operation, returned.choice);
    const makesReply = colour === 'red' && service.shadowOperations[shadow]?.reply !== undefined;
    const given = makesReply ? undefined : takenReply(service.checkResult(operation, reply));
    return { failed: false, shadow, effects, args, reply: given };
  } catch (error) {
    const isRefusal = error instanceof Refusal && service.refusals.declares(operation, error);
    return isRefusal ? refused(service, operation, error) : failed(error);
  }
}

function refused({ refusals }: Service, operation: string, refusal: Refusal): Outcome {
  try {
    const { domain } = refusals.errorOf(operation, refusal);
    checkPortable(domain?.data, 'errors');
    return { failed: false, effects: [], refusal: domain };
  } catch (error) {
    return failed(error);
  }
}

function failed(thrown: unknown): Outcome {
  return { failed: true, why: thrownText(thrown), effects: [] };
}

/** What the operation replies when its effects are applied to `view`; none where that fails. */
export function replyAt(
  service: Service,
  view: ModelView,
  by: ModelOperation,
  ran: Outcome & { readonly operation: string },
): Reply | undefined {
  const results = ran.effects.map((effect, index) => view.apply({ by, index, effect }));
  const makeReply = ran.shadow === undefined ? undefined : service.shadowOperations[ran.shadow]?.reply;
  if (makeReply === undefined || ran.reply !== undefined) return ran.reply;
  try {
    return takenReply(service.checkResult(ran.operation, makeReply(results.map(handedOut), keptArgs(ran.args))));
  } catch {
    return undefined;
  }
}

/** What a guess is, of an operation that came of this run: its effects come last. */
export function guessOf(service: Service, view: ModelView, ran: Outcome & { readonly operation: string }): unknown {
  const seen = Array.from({ length: LISTS_MAX }, () => LATER);
  const by = { list: LISTS_MAX - 1, place: LATER + 1, seen, time: LATER + 1, site: 0 };
  return replyAt(service, view, by, ran)?.value;
}

function contextOf(service: Service, view: () => ModelView, input: RunInput): object {
  const random = new Random(input.seed);
  const scratch = new Scratch(service, view);
  let ids = 0;
  const parts = {
    tables: scratch.tablesAt(input.site),
    shadow: service.shadowBuilders,
    errors: service.refusals.of(input.operation),
    scratchpad: scratch,
    now: input.submittedAtMs,
    uniqueId: () => `${input.name}.${input.serial}.${ids++}`,
    random: () => random.fraction(),
  };
  // As at a site it has nothing that it could be copied by.
  return Object.create(Object.freeze(parts)) as object;
}

/** A generator's scratchpad: a view of its own, on which each operation that is tried comes after all others. */
class Scratch {
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

  tablesAt(site: number | undefined): Readonly<Record<string, unknown>> {
    return modelReaders(this.#service.tables, () => this.#view, site);
  }

  apply({ choice }: Chosen<unknown>): unknown {
    this.#tried += 1;
    const place = LATER + this.#tried;
    const seen = Array.from({ length: LISTS_MAX }, () => place - 1);
    const by = { list: LISTS_MAX - 1, place, seen, time: place, site: 0 };
    const { shadow, args, effects, reply } = choice;
    const results = effects.map((effect, index) => this.#view.apply({ by, index, effect }));
    const makeReply = this.#service.shadowOperations[shadow]?.reply;
    return replyOf(makeReply === undefined ? reply : makeReply(results.map(handedOut), keptArgs(args))).value;
  }

  discard(): void {
    this.#view = this.#snapshot();
  }
}

/** Whether two runs gave the same. */
export function isSame(a: Outcome, b: Outcome): boolean {
  if (a.failed || b.failed) return a.failed === b.failed;
  const isSameAnswer = isSameReply(a.reply ?? NONE, b.reply ?? NONE) && isSameSent(a.refusal, b.refusal);
  return a.shadow === b.shadow && areSameSent(a.effects, b.effects) && isSameAnswer;
}

/** For messages. */
export function described({ failed: isFailed, why, shadow, effects, reply, refusal }: Outcome): string {
  if (isFailed) return why === undefined ? 'fails' : `fails (${why})`;
  if (refusal !== undefined) return `refuses: ${refusal.name} ${textOf(refusal.data)}`;
  const changes = effects.map(
    ({ table, key, field, action, value }) => `${table}.${key}.${field}.${action}(${textOf(value)})`,
  );
  return `${shadow ?? 'nothing'} [${changes.join(', ')}] → ${textOf(reply?.value)}`;
}

/** A value for messages, whatever it is. */
export function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (isWithoutText(each) ? String(each) : each)) ?? 'undefined';
}

/** JSON has nothing to say of it, or something else. */
function isWithoutText(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value));
}

/** @throws Error saying what is wrong with it */
function checkTaken(service: Service, operation: string, choice: Choice): void {
  const { shadow, colour, effects } = choice;
  if (colour !== 'red' && colour !== service.colours[shadow]) throw new Error(`'${shadow}' is none of that colour`);
  const known = new KnownEffects(service.tables);
  for (const effect of effects) {
    const problem = known.problemOfChosen(effect);
    if (problem !== undefined) throw new Error(problem);
    if (colour === 'blue' && known.isBarredFromBlue(effect)) throw new Error(`'${shadow}' is blue and may not`);
    for (const part of [effect.table, effect.key, effect.field, effect.action, effect.value])
      checkPortable(part, 'effects');
    if (typeof effect.key !== 'string') throw new Error('the key of a row is text');
  }
  if (colour === 'red') checkPortable(choice.args, 'shadow');
  const mayWait = colour === 'red' || takesOf(service.tables, effects).length > 0;
  const isDeclaredBlue = service.contract.operations[operation]?.colour === 'blue';
  if (isDeclaredBlue && mayWait) throw new Error(`it is declared blue, and '${shadow}' may have to wait`);
}

/** @throws Error as `checkTaken` */
function takenReply(reply: Reply): Reply {
  checkPortable(reply.value, 'result');
  if (reply.meta !== undefined) checkPortable(reply.meta, 'meta');
  return reply;
}

/** `local()` is for what could have been answered early. @throws Error as `checkTaken` */
function checkMayBeLocal({ contract }: Service, operation: string): void {
  if (contract.operations[operation]?.colour === 'red') throw new Error('it is declared red and said local()');
}

type Scan = (options?: ScanOptions) => readonly string[];

/** What generators get as `tables`: of the view that is the present one whenever they read; at a site, unless there is none. */
function modelReaders(tables: Tables, view: () => ModelView, site?: number): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(tables).map(([name, table]) => [name, tableReader(name, table, view, site)]),
  );
}

function tableReader(name: string, table: Table, view: () => ModelView, site: number | undefined): unknown {
  const by: Record<string, Scan> = {};
  for (const field of table.indexes) by[field] = (options) => scan(view().entries(name, field), options);
  return {
    row: (key: string) => rowReader(table, (field) => shown(view().read(name, key, field), site)),
    has: (key: string) => view().has(name, key),
    keys: (options?: ScanOptions) => scan(keyEntries(name, view()), options),
    by,
  };
}

/** As at a site it has its fields from what it inherits from. */
function rowReader({ fields }: Table, read: (field: string) => unknown): object {
  const getters = {};
  for (const field of Object.keys(fields)) {
    Object.defineProperty(getters, field, { enumerable: true, get: () => read(field) });
  }
  return Object.create(Object.freeze(getters)) as object;
}

function shown(value: unknown, site: number | undefined): unknown {
  return isLedger(value) && 'held' in value ? ledgerViewAt(value, site) : handedOut(value);
}

const keyEntries = (table: string, view: ModelView): readonly ModelEntry[] =>
  view.keys(table).map((key) => ({ value: key, key }));

function scan(entries: readonly ModelEntry[], options: ScanOptions = {}): readonly string[] {
  const { equals, prefix, from, before, limit = Infinity, reverse = false } = options;
  if (limit !== Infinity && !(Number.isInteger(limit) && limit >= 0)) throw new Error(`no limit: ${limit}`);
  const found = entries.filter(
    ({ value }) =>
      (equals === undefined || value === equals) &&
      (prefix === undefined || (typeof value === 'string' && value.startsWith(prefix))) &&
      (from === undefined || compare(value, from) >= 0) &&
      (before === undefined || compare(value, before) < 0),
  );
  const keys = (reverse ? found.toReversed() : found).map(({ key }) => key);
  return [...new Set(keys)].slice(0, limit);
}
