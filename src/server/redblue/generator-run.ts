/**
 * Running a generator on a state, noting what it reads (RedBlue, OSDI 2012, §5.1: a generator has no side effects and
 * works on a snapshot).
 */
import { structurallyEqual } from '../../correctable/equal.ts';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import { checkPortable, isPortableScalar } from '../../protocol/check-portable.ts';
import type { Effect } from './effect.ts';
import { textOf } from './failure.ts';
import { GENERATOR_LIMITS, GeneratorBudget } from './generator-budget.ts';
import type { GeneratorLimits, GeneratorPorts } from './generator-budget.ts';
import type { ReadSet } from './read-set.ts';
import { Refusal } from './refusal.ts';
import { Chosen, Local } from './reply.ts';
import type { Choice, Reply } from './reply.ts';
import { RunContext } from './generator-context.ts';
import type { GeneratorInput, GeneratorWorld } from './generator-context.ts';
import { ScratchState } from './scratch-state.ts';
import type { AnyGenerator, Service } from './service.ts';
import type { StateReader } from './store.ts';
import { tablesReader } from './table-readers.ts';
import { isRedOnly, isRedOnlyField } from './tables.ts';
import type { Table } from './tables.ts';

/** What came of it. */
export interface GeneratorOutcome {
  readonly reads: ReadSet;
  /** The chosen shadow operation; none for a path that changes nothing. */
  readonly choice: Choice | undefined;
  /** The reply, unless the chosen shadow operation makes it. */
  readonly reply: Reply;
  /** In the place of a reply: the error of the domain that the operation is refused with. */
  readonly refusal?: CorrectableError;
  /** Without effects, and the site's own snapshot will do. */
  readonly isLocal?: true;
}

/** How generators are run. */
export interface GeneratorOptions extends GeneratorPorts {
  readonly limits?: Partial<GeneratorLimits> | undefined;
  /** Where they run, as part of the identifiers that they draw: unique over all sites and restarts. */
  readonly name?: string;
}

/** What the service says of an operation, looked up once. */
interface Runnable {
  readonly generator: AnyGenerator;
  /** A read chooses nothing that could be certified against what it has read. */
  readonly isRead: boolean;
}

const NO_REPLY: Reply = { value: undefined };

/**
 * Runs generators of one service on one state.
 *
 * Readers are made once and kept: a run costs no more than what it reads.
 */
export class GeneratorRunner {
  readonly #service: Service;
  readonly #operations: ReadonlyMap<string, Runnable>;
  /** Those with a field that only red shadow operations may change. */
  readonly #tablesWithRed: ReadonlySet<string>;
  readonly #limits: GeneratorLimits;
  readonly #guard: GeneratorPorts['guard'];
  readonly #onThrown: GeneratorPorts['onThrown'];
  readonly #budget: GeneratorBudget;
  readonly #scratch: ScratchState;
  /** What all runs have in common. */
  readonly #world: GeneratorWorld;

  constructor(service: Service, state: StateReader, options: GeneratorOptions = {}) {
    const { limits, elapsedMs, guard, onThrown, name = '' } = options;
    this.#service = service;
    this.#operations = new Map(
      Object.entries(service.generators).map(([name, generator]) => {
        return [name, { generator, isRead: service.contract.operations[name]?.effect === 'read' }];
      }),
    );
    const hasRed = ([, { fields }]: readonly [string, Table]): boolean => Object.values(fields).some(isRedOnlyField);
    this.#tablesWithRed = new Set(Object.entries(service.tables).flatMap((each) => (hasRed(each) ? [each[0]] : [])));
    this.#limits = { ...GENERATOR_LIMITS, ...limits };
    this.#guard = guard;
    this.#onThrown = onThrown;
    this.#budget = new GeneratorBudget(this.#limits, elapsedMs);
    this.#scratch = new ScratchState(service, state, this.#budget);
    const tables = tablesReader(service.tables, this.#scratch, this.#budget);
    const { shadowBuilders: shadow, refusals } = service;
    this.#world = { name, tables, shadow, scratchpad: this.#scratch, budget: this.#budget, refusals };
  }

  /**
   * Runs the generator of an operation.
   *
   * @throws CorrectableError what the generator threw, as `FINAL_FAILED` unless it is one already; `FINAL_FAILED` when
   * it takes too long or would give something else the next time; `INVALID_VALUE` when its result breaks the contract;
   * never anything else, since it may be run long after whoever asked for it could catch that.
   */
  run(input: GeneratorInput): GeneratorOutcome {
    try {
      const outcome = this.#runOnce(input);
      if (input.seed < this.#limits.repeatedShare * 2 ** 32) this.#compare(input, outcome);
      return outcome;
    } catch (error) {
      if (isCorrectableError(error)) throw error;
      const { operation } = input;
      const message = `What the generator of '${operation}' gave cannot be read: ${textOf(error)}. Nothing was changed.`;
      throw new CorrectableError('FINAL_FAILED', message, { field: `generators.${operation}`, cause: error });
    }
  }

  #runOnce(input: GeneratorInput): GeneratorOutcome {
    const { operation } = input;
    const returned = this.#call(input);
    this.#budget.checkTime();
    const { reads } = this.#budget;
    if (returned instanceof Refusal) {
      return { reads, choice: undefined, reply: NO_REPLY, refusal: this.#refused(operation, returned) };
    }
    if (returned instanceof Local) {
      const reply = portable(this.#service.checkResult(operation, returned.result));
      return { reads, choice: undefined, reply, isLocal: true };
    }
    if (!(returned instanceof Chosen)) {
      return { reads, choice: undefined, reply: portable(this.#service.checkResult(operation, returned)) };
    }
    const { choice } = returned;
    this.#checkDeclared(operation, choice);
    this.#budget.checkEffects(choice.effects.length);
    if (choice.colour === 'blue') this.#checkBlue(choice);
    else checkRed(choice, reads);
    const makesReply = choice.colour === 'red' && this.#service.shadowOperations[choice.shadow]?.reply !== undefined;
    return {
      reads,
      choice,
      reply: makesReply ? NO_REPLY : portable(this.#service.checkResult(operation, choice.reply)),
    };
  }

  #call(input: GeneratorInput): unknown {
    const { operation, args } = input;
    const runnable = this.#operations.get(operation);
    if (runnable === undefined) throw new CorrectableError('UNSUPPORTED', `No operation '${operation}' here.`);
    const { generator, isRead } = runnable;
    this.#budget.begin(operation, !isRead);
    try {
      const context = this.#contextOf(input);
      return this.#guard === undefined ? generator(args, context) : this.#guarded(generator, args, context);
    } catch (error) {
      if (error instanceof Refusal) return error;
      if (isCorrectableError(error)) throw error;
      this.#onThrown?.(operation, textOf(error));
      const message = `The generator of '${operation}' threw. Nothing was changed; the alarms of the site say what it threw.`;
      throw new CorrectableError('FINAL_FAILED', message, { field: `generators.${operation}`, cause: error });
    } finally {
      this.#scratch.discard();
    }
  }

  #refused(operation: string, refusal: Refusal): CorrectableError {
    const error = this.#service.refusals.errorOf(operation, refusal);
    checkPortable(error.domain?.data, 'errors');
    return error;
  }

  /** Holds a choice to the colour that the contract declares. */
  #checkDeclared(operation: string, { shadow, colour }: Choice): void {
    if (colour === 'blue' || this.#service.contract.operations[operation]?.colour !== 'blue') return;
    const message = `'${operation}' is declared blue but chose '${shadow}', which is red. Leave its colour out of the contract.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: `operations.${operation}.colour` });
  }

  /** Apart, since a function that makes another one pays for that even where it does not. */
  #guarded(generator: AnyGenerator, args: unknown, context: RunContext): unknown {
    return this.#guard?.(() => generator(args, context), this.#limits.timeMaxMs);
  }

  #contextOf(input: GeneratorInput): RunContext {
    return new RunContext(input, this.#world);
  }

  /** Runs once more: a generator that depends on anything else than its input and the state gives itself away. */
  #compare(input: GeneratorInput, first: GeneratorOutcome): void {
    const { operation } = input;
    const fail = (what: string, cause?: unknown): never => {
      const message = `The generator of '${operation}' is not deterministic: run twice on the same, ${what}. Take time, randomness and identifiers from its context.`;
      throw new CorrectableError('FINAL_FAILED', message, { field: `generators.${operation}`, cause });
    };
    let second: GeneratorOutcome;
    try {
      second = this.#runOnce(input);
    } catch (error) {
      return fail('it threw the second time', error);
    }
    if (!isSameChoice(first.choice, second.choice)) fail('it chose different effects');
    if (!structurallyEqual(first.refusal?.domain, second.refusal?.domain)) fail('it refused differently');
    if (first.isLocal !== second.isLocal) fail('its results were not both local');
    if (!structurallyEqual(first.reply, second.reply)) fail('it gave different results');
    if (!structurallyEqual(first.reads, second.reads)) fail('it read different things');
  }

  /** Of a blue shadow operation its effects are kept, and of those the parts that effects have. */
  #checkBlue({ shadow, effects }: Choice): void {
    for (let at = 0; at < effects.length; at += 1) {
      const effect = effects[at] as Effect;
      const mayBeRed = this.#tablesWithRed.has(effect.table);
      if (mayBeRed && isRedOnly(this.#service.tables, effect)) throw notBlue(shadow, effect);
      if (!isScalarEffect(effect)) checkPortable(effect, 'effects', at);
    }
  }
}

/** Without their replies: those are compared as they travel, where what `withMeta` has made is plain. */
function isSameChoice(a: Choice | undefined, b: Choice | undefined): boolean {
  return structurallyEqual(a && { ...a, reply: undefined }, b && { ...b, reply: undefined });
}

function notBlue(shadow: string, offender: Effect): CorrectableError {
  const field = `${offender.table}.${offender.field === '' ? 'remove' : offender.field}`;
  const message = `'${shadow}' is blue but changes ${field}, which only red ones may. Make it red().`;
  return new CorrectableError('INVALID_ARGUMENT', message, { field });
}

/** Whether all parts of an effect surely travel. */
function isScalarEffect({ table, key, field, action, value }: Effect): boolean {
  return (
    isPortableScalar(key) &&
    isPortableScalar(value) &&
    isPortableScalar(table) &&
    isPortableScalar(field) &&
    isPortableScalar(action)
  );
}

/**
 * Red operations take along their arguments, and what they have read, for certification: all of it has to be such that
 * it can be written down.
 */
function checkRed({ effects, args }: Choice, { names, ranges }: ReadSet): void {
  for (const [at, effect] of effects.entries()) checkPortable(effect, 'effects', at);
  checkPortable(args, 'shadow');
  for (const name of names) checkPortable(name, 'reads');
  for (const range of ranges) checkPortable(range, 'reads');
}

/** A reply that can be kept, for whoever asks again. */
function portable(reply: Reply): Reply {
  checkPortable(reply.value, 'result');
  if (reply.meta !== undefined) checkPortable(reply.meta, 'meta');
  return reply;
}
