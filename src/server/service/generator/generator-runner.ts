/** Runs generators on a state, and notes what they read (RedBlue, OSDI 2012, §5.1). */
import { structurallyEqual } from '../../../correctable/structural-equality.ts';
import type { CorrectableError } from '../../../correctable/errors.ts';
import { isWholeRow, type Effect } from '../records/effect.ts';
import type { Origin, Origins } from '../records/origin.ts';
import { GENERATOR_LIMITS, GeneratorBudget, checkOperationSize } from './generator-budget.ts';
import type { GeneratorLimits, GeneratorPorts } from './generator-budget.ts';
import {
  freezeArgsCopy,
  freezeOwnArgs,
  freezeForUser,
  freezeWireCopy,
} from '../../../values/deep-freeze.ts';
import { createInternalError, toClientError } from '../records/internal-errors.ts';
import type { ReadSet } from './read-set.ts';
import { ThrownDomainError } from '../domain-errors.ts';
import {
  ChosenShadow,
  UncertifiedResult,
  toReply,
  type Choice,
  type Reply,
} from '../records/reply.ts';
import { RunContext, type GeneratorInput, type RunnerContext } from './generator-context.ts';
import { EffectValidator } from '../effect-validator.ts';
import type { OperationPlan } from '../operation-plan.ts';
import type { Service } from '../service.ts';
import type { StateReader } from '../state/store.ts';
import { createTablesReader, reportFieldRead, type ReadListener } from './table-readers.ts';
import { hasBounded, isOnBoundedField, sumTakes } from '../bounded-takes.ts';
import { createBoundedView, type Ledger } from '../fields/ledger.ts';
import { checkValue, checkEffect, checkRedOperation, freezeReply } from './validate-output.ts';
import type { Entry, ReadRange } from '../records/read-range.ts';
import { Overlay } from '../state/overlay.ts';
import type { Scratchpad } from '../readers.ts';
import { isRedOnly, type Tables } from '../tables.ts';

export interface GeneratorOutcome {
  readonly reads: ReadSet;
  /** The chosen shadow operation; `undefined` for a path that changes nothing. */
  readonly choice: Choice | undefined;
  /** The reply, unless the chosen shadow operation creates it. */
  readonly reply: Reply;
  /** The domain error that refuses the operation, instead of a reply. */
  readonly domainError?: CorrectableError;
  /** Set if there are no effects, and the result need not be certified. */
  readonly isLocal?: true;
}

/** Decides which rights to bounded fields generators see. */
interface RightsOptions {
  /** The site whose rights to bounded fields the generators read. Default: they read all rights */
  readonly site?: Origin | undefined;
  /** The origins of the deployment: rights of closed ones are not left. */
  readonly origins?: { readonly closed: Origins['closed'] } | undefined;
}

export interface GeneratorOptions extends GeneratorPorts, RightsOptions {
  readonly limits?: Partial<GeneratorLimits> | undefined;
  /** Maximum size of a red operation in bytes, approximately. Default: as for other operations */
  readonly maxRedBytes?: number | undefined;
  /** Does not freeze arguments, for a caller that checks whether they are changed. */
  readonly allowsArgChanges?: true;
  /** A prefix of the identifiers that generators create. Unique over all sites and restarts. */
  readonly identifierPrefix?: string;
}

const NO_REPLY: Reply = { value: undefined };

/**
 * Runs the generators of one service. It creates its readers once, so that a run costs no more than
 * its reads.
 */
export class GeneratorRunner {
  readonly #service: Service;
  readonly #hasBounded: boolean;
  readonly #knownEffects: EffectValidator;
  readonly #limits: GeneratorLimits;
  readonly #sizeLimits: { readonly maxRedBytes?: number };
  readonly #allowsArgChanges: boolean;
  /** Whether the run that began last lists what it reads, although it is a read. */
  #notesReads = false;
  readonly #onGeneratorError: GeneratorPorts['onGeneratorError'];
  readonly #checkChoice: GeneratorPorts['checkChoice'];
  readonly #budget: GeneratorBudget;
  readonly #state: StateReader;
  readonly #scratch: ScratchState;
  readonly #context: RunnerContext;

  constructor(service: Service, state: StateReader, options: GeneratorOptions = {}) {
    const { maxRedBytes } = options;
    this.#service = service;
    this.#limits = { ...GENERATOR_LIMITS, ...options.limits };
    this.#sizeLimits = maxRedBytes === undefined ? {} : { maxRedBytes };
    this.#allowsArgChanges = options.allowsArgChanges === true;
    this.#onGeneratorError = options.onGeneratorError;
    this.#checkChoice = options.checkChoice;
    this.#budget = new GeneratorBudget(this.#limits, options.elapsedMs);
    this.#state = state;
    this.#scratch = new ScratchState(service, state, this.#budget);
    this.#hasBounded = hasBounded(service.tables);
    this.#knownEffects = new EffectValidator(service.tables);
    const read = this.#hasBounded
      ? new RightsReader(this.#scratch, service.tables, options)
      : this.#scratch;
    this.#context = {
      name: escapeName(options.identifierPrefix ?? ''),
      tables: createTablesReader(service.tables, read, this.#budget),
      shadow: service.shadowBuilders,
      scratchpad: this.#scratch,
      budget: this.#budget,
    };
  }

  /**
   * Runs the generator of an operation.
   *
   * @throws CorrectableError `FINAL_FAILED` if the generator threw, took too long, or is not
   * deterministic; `INVALID_VALUE` if its result breaks the contract or is too large; the error
   * that its tools threw; nothing else.
   * @param notesReads whether the run of a read lists what it reads
   */
  run(
    input: GeneratorInput,
    state: StateReader = this.#state,
    notesReads = false,
  ): GeneratorOutcome {
    this.#notesReads = notesReads;
    this.#scratch.show(state);
    try {
      const outcome = this.#runInTime(input);
      if (this.#budget.isWrite) checkOperationSize(outcome, this.#sizeLimits);
      if (input.seed < this.#limits.determinismCheckRate * 2 ** 32)
        this.#checkDeterminism(input, outcome);
      return outcome;
    } catch (error) {
      throw this.#toClientError(error, input.plan);
    }
  }

  /** Repeats a run that took too long: the clock also goes on while the process is suspended. */
  #runInTime(input: GeneratorInput): GeneratorOutcome {
    try {
      return this.#runOnce(input);
    } catch (error) {
      if (!this.#budget.isLate) throw error;
      return this.#runOnce(input);
    }
  }

  #runOnce(input: GeneratorInput): GeneratorOutcome {
    const { plan } = input;
    const returned = this.#call(input);
    this.#budget.checkTime();
    const { reads } = this.#budget;
    if (returned instanceof ThrownDomainError) {
      return {
        reads,
        choice: undefined,
        reply: NO_REPLY,
        domainError: this.#toDomainFailure(plan, returned),
      };
    }
    if (returned instanceof UncertifiedResult) {
      checkMayBeLocal(plan);
      const reply = freezeReply(plan.checkResult(returned.result));
      return { reads, choice: undefined, reply, isLocal: true };
    }
    if (!(returned instanceof ChosenShadow)) {
      return {
        reads,
        choice: undefined,
        reply: freezeReply(plan.checkResult(returned)),
      };
    }
    const { choice } = returned;
    this.#checkKnown(choice);
    this.#checkDeclared(plan, choice);
    this.#checkColor(choice);
    if (choice.color === 'blue') this.#checkBlue(choice);
    else checkRedOperation(choice, reads);
    const makesReply =
      choice.color === 'red' && this.#service.shadowOperations[choice.shadow]?.reply !== undefined;
    return {
      reads,
      choice,
      reply: makesReply ? NO_REPLY : freezeReply(plan.checkResult(choice.reply)),
    };
  }

  #call(input: GeneratorInput): unknown {
    const { plan, args: value } = input;
    const { generator } = plan;
    const isWrite = !plan.isRead;
    this.#budget.begin(plan.name, isWrite, isWrite || this.#notesReads);
    try {
      const context = new RunContext(input, this.#context);
      // A generator runs more than once, so a change of its arguments must not reach the next run.
      const args = this.#allowsArgChanges
        ? value
        : plan.hasOwnArgs
          ? freezeOwnArgs(value as object)
          : freezeArgsCopy(value);
      const returned = generator(args, context);
      // Handle a returned error like a thrown one: it may belong to another operation.
      if (returned instanceof ThrownDomainError) throw returned;
      return returned;
    } catch (error) {
      if (error instanceof ThrownDomainError && Object.hasOwn(plan.errors, error.domain.name))
        return error;
      throw error;
    } finally {
      this.#scratch.discard();
    }
  }

  #toDomainFailure({ name }: OperationPlan, rejection: ThrownDomainError): CorrectableError {
    const error = this.#service.domainErrors.toClientError(name, rejection);
    checkValue(error.domain?.data, 'errors');
    return error;
  }

  /**
   * Returns what a client may see of a thrown value: an error of the library, or only that there
   * was an error.
   */
  #toClientError(thrown: unknown, { name }: OperationPlan): CorrectableError {
    const reported = toClientError(thrown, (hidden) =>
      this.#onGeneratorError?.(`the generator of '${name}'`, hidden),
    );
    if (reported !== undefined) return reported;
    const message = `The generator of '${name}' threw. Nothing was changed; the alarms of the site say what it threw.`;
    return createInternalError('FINAL_FAILED', message, `generators.${name}`);
  }

  /** Rejects a choice that does not have the color that the contract declares. */
  #checkDeclared(plan: OperationPlan, { shadow, color, effects }: Choice): void {
    if (plan.color !== 'blue') return;
    if (color === 'blue' && !this.#hasBounded) return;
    if (color === 'blue' && sumTakes(this.#service.tables, effects).length === 0) return;
    const description =
      color === 'blue' ? 'which is red where the site has no rights' : 'which is red';
    const message = `'${plan.name}' is declared blue but chose '${shadow}', ${description}. Leave its color out of the contract.`;
    throw createInternalError('INVALID_ARGUMENT', message, `operations.${plan.name}.color`);
  }

  /**
   * Runs the generator once more, to find one that depends on anything other than its input and the
   * state.
   */
  #checkDeterminism(input: GeneratorInput, first: GeneratorOutcome): void {
    const { name } = input.plan;
    const fail = (description: string): never => {
      const message = `The generator of '${name}' is not deterministic: run twice on the same, ${description}. Take time, randomness and identifiers from its context.`;
      throw createInternalError('FINAL_FAILED', message, `generators.${name}`);
    };
    let second: GeneratorOutcome;
    try {
      second = this.#runInTime(input);
    } catch (error) {
      this.#toClientError(error, input.plan);
      return fail('it threw the second time');
    }
    if (!isSameChoice(first.choice, second.choice)) fail('it chose different effects');
    if (!structurallyEqual(first.domainError?.domain, second.domainError?.domain))
      fail('it refused differently');
    if (first.isLocal !== second.isLocal) fail('its results were not both local');
    if (!structurallyEqual(first.reply, second.reply)) fail('it gave different results');
    if (!structurallyEqual(first.reads, second.reads)) fail('it read different things');
  }

  /**
   * Rejects effects that no site can apply. Each site that tried would stop, so they must not reach
   * a site or a log.
   */
  #checkKnown({ shadow, effects }: Choice): void {
    if (!Array.isArray(effects)) {
      const message = `'${shadow}' gives no list of effects. Nothing was changed: give one, as [row(key).field.action(value)].`;
      throw createInternalError('INVALID_ARGUMENT', message, 'effects');
    }
    this.#budget.checkEffects(effects.length);
    for (let at = 0; at < effects.length; at += 1) {
      const problem = this.#knownEffects.describeChosenProblem(effects[at] as Effect);
      if (problem === undefined) continue;
      const message = `'${shadow}' has an effect that cannot be: ${problem}. Nothing was changed: make effects by the tables, as row(key).field.action(value).`;
      throw createInternalError('INVALID_ARGUMENT', message, `effects.${at}`);
    }
    this.#checkChoice?.(shadow, effects);
  }

  /**
   * Rejects a choice with another color than its shadow operation. A red choice of a blue shadow
   * operation is accepted, because a site without rights uses red.
   */
  #checkColor({ shadow, color }: Choice): void {
    if (color === 'red' || color === this.#service.colors[shadow]) return;
    const message = `'${shadow}' is not ${color}, as which it was chosen. Nothing was changed: return what the context gives as shadow.`;
    throw createInternalError('INVALID_ARGUMENT', message, `shadow.${shadow}`);
  }

  /**
   * Checks the effects of a blue shadow operation. Its log keeps the effects themselves, so each
   * must be portable.
   */
  #checkBlue({ shadow, effects }: Choice): void {
    for (let at = 0; at < effects.length; at += 1) {
      const effect = effects[at] as Effect;
      if (this.#knownEffects.requiresRed(effect)) {
        const field = `${effect.table}.${effect.field === '' ? 'remove' : effect.field}`;
        const message = `'${shadow}' is blue but changes ${field}, which only red ones may. Make it red().`;
        throw createInternalError('INVALID_ARGUMENT', message, field);
      }
      checkEffect(effect, at);
    }
  }
}

/**
 * Rejects a local result of an operation that is declared red: by its types, none of its views is
 * final at `causal`.
 */
function checkMayBeLocal({ name, color }: OperationPlan): void {
  if (color !== 'red') return;
  const message = `'${name}' is declared red but returned uncertified(). Leave that out, or its color out of the contract.`;
  throw createInternalError('INVALID_ARGUMENT', message, `operations.${name}.color`);
}

/**
 * Compares choices without their replies. Replies are compared as they are sent, where results of
 * `withMeta` are plain data.
 */
function isSameChoice(a: Choice | undefined, b: Choice | undefined): boolean {
  return structurallyEqual(a && { ...a, reply: undefined }, b && { ...b, reply: undefined });
}

/** Replaces each character of a site's name that a URL cannot contain by its number. */
function escapeName(name: string): string {
  return name.replaceAll(/[^\w.-]/gu, (character) => `~${character.codePointAt(0)?.toString(16)}~`);
}

/**
 * A state as the generators of one site read it. For a bounded field, they read the amount that
 * this site may take without other sites.
 */
class RightsReader implements StateReader {
  readonly #state: StateReader;
  readonly #tables: Tables;
  readonly #options: RightsOptions;

  constructor(state: StateReader, tables: Tables, options: RightsOptions) {
    this.#state = state;
    this.#tables = tables;
    this.#options = options;
  }

  read(table: string, key: string, field: string): unknown {
    const value = this.#state.read(table, key, field);
    if (!isOnBoundedField(this.#tables, { table, field })) return value;
    const { site, origins } = this.#options;
    return createBoundedView(value as Ledger, site, origins?.closed);
  }

  has(table: string, key: string): boolean {
    return this.#state.has(table, key);
  }

  scan(range: ReadRange, reverse: boolean): Iterable<Entry> {
    return this.#state.scan(range, reverse);
  }
}

/** The state that a generator sees: the snapshot with the changes of its scratchpad. */
class ScratchState implements StateReader, Scratchpad {
  readonly #service: Service;
  readonly #reads: ReadListener;
  #snapshot: StateReader;
  #overlay: Overlay | undefined;
  #appliedCount = 0;

  /** Reads `snapshot` until `show` sets another. `notes` receives what tried effects read. */
  constructor(service: Service, snapshot: StateReader, notes: ReadListener) {
    this.#service = service;
    this.#snapshot = snapshot;
    this.#reads = notes;
    Object.freeze(this);
  }

  // Freeze the methods: all runs of all services share this class, and generators can reach it.
  static {
    for (const method of [this.prototype.apply, this.prototype.discard]) Object.freeze(method);
    Object.freeze(this.prototype);
  }

  show(snapshot: StateReader): void {
    this.#snapshot = snapshot;
  }

  apply<R>({ choice }: ChosenShadow<R>): R {
    const { shadow, args, effects, reply } = choice;
    this.#overlay ??= new Overlay(this.#service.tables, this.#snapshot);
    this.#appliedCount += 1;
    const results = this.#overlay.add(this.#appliedCount, effects);
    const makeReply = this.#service.shadowOperations[shadow]?.reply;
    if (makeReply === undefined) return toReply(reply).value as R;
    for (const effect of effects) this.#noteRead(effect);
    return toReply(makeReply(results.map(freezeForUser), freezeWireCopy(args))).value as R;
  }

  /**
   * The generator sees the result of an effect that reads its field, so that is a read too. An
   * insertion or a removal of a row has no result.
   */
  #noteRead(effect: Effect): void {
    const { tables } = this.#service;
    if (!isWholeRow(effect) && isRedOnly(tables, effect))
      reportFieldRead(effect, tables[effect.table]?.removable === true, this.#reads);
  }

  discard(): void {
    this.#overlay = undefined;
    this.#appliedCount = 0;
  }

  read(table: string, key: string, field: string): unknown {
    return (this.#overlay ?? this.#snapshot).read(table, key, field);
  }

  has(table: string, key: string): boolean {
    return (this.#overlay ?? this.#snapshot).has(table, key);
  }

  scan(range: ReadRange, reverse: boolean): Iterable<Entry> {
    return (this.#overlay ?? this.#snapshot).scan(range, reverse);
  }
}
