/**
 * Running a generator on a state, noting what it reads (RedBlue, OSDI 2012, §5.1: a generator has no side effects and
 * works on a snapshot).
 */
import { structurallyEqual } from '../../correctable/equal.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import { makesOwnObject } from '../../protocol/contract/schema-parts.ts';
import type { Effect } from '../records/effect.ts';
import type { Origin, Origins } from '../records/origin.ts';
import { GENERATOR_LIMITS, GeneratorBudget, checkOperationSize } from './generator-budget.ts';
import type { GeneratorLimits, GeneratorPorts } from './generator-budget.ts';
import { keptArgs, keptOwnArgs, handedOut, kept } from '../../values/frozen.ts';
import { own, ownError, toldOf } from '../records/own-errors.ts';
import type { ReadSet } from './read-set.ts';
import { Refusal } from '../service/refusal.ts';
import { Chosen, Local, replyOf, type Choice, type Reply } from '../records/reply.ts';
import { RunContext, type GeneratorInput, type GeneratorWorld } from './generator-context.ts';
import { RightsReader } from '../state/rights-reader.ts';
import { KnownEffects } from '../service/known-effects.ts';
import type { AnyGenerator, Service } from '../service/service.ts';
import type { StateReader } from '../state/store.ts';
import { tablesReader, noteField, type ReadNotes } from './table-readers.ts';
import { hasBounded, takesOf } from '../service/takes.ts';
import { check, checkEffect, checkRed, keptReply } from './writable.ts';
import type { Entry, ReadRange } from '../records/key-range.ts';
import { Overlay } from '../state/overlay.ts';
import type { Scratchpad } from '../service/readers.ts';
import { isRedOnly } from '../service/tables.ts';

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
  /** Leaves arguments open to change, for who looks whether they are changed. */
  readonly opensArgs?: true;
  /** Where they run, as part of the identifiers that they draw: unique over all sites and restarts. */
  readonly name?: string;
  /** Whose rights they read of bounded fields; all rights unless given. */
  readonly site?: Origin | undefined;
  /** Those of the deployment. */
  readonly origins?: Origins | undefined;
}

/** What the service says of an operation, looked up once. */
interface Runnable {
  readonly generator: AnyGenerator;
  /** A read chooses nothing that could be certified against what it has read. */
  readonly isRead: boolean;
  /** Its arguments are an object that its schema has made for it. */
  readonly hasOwnArgs: boolean;
}

const NO_REPLY: Reply = { value: undefined };

/**
 * Runs generators of one service, on one state unless another one is given.
 *
 * Readers are made once, for all states: a run costs no more than what it reads, and code that has met one kind of reader
 * is faster than code that has met several.
 */
export class GeneratorRunner {
  readonly #service: Service;
  readonly #operations: ReadonlyMap<string, Runnable>;
  readonly #hasBounded: boolean;
  readonly #known: KnownEffects;
  readonly #limits: GeneratorLimits;
  readonly #opensArgs: boolean;
  readonly #guard: GeneratorPorts['guard'];
  readonly #onThrown: GeneratorPorts['onThrown'];
  readonly #budget: GeneratorBudget;
  readonly #state: StateReader;
  readonly #scratch: ScratchState;
  /** What all runs have in common. */
  readonly #world: GeneratorWorld;

  constructor(service: Service, state: StateReader, options: GeneratorOptions = {}) {
    const { limits, elapsedMs, guard, onThrown, opensArgs = false, name = '', site, origins } = options;
    this.#service = service;
    this.#operations = new Map(
      Object.entries(service.generators).map(([name, generator]) => {
        const spec = service.contract.operations[name];
        const hasOwnArgs = spec !== undefined && makesOwnObject(spec.args);
        return [name, { generator, isRead: spec?.effect === 'read', hasOwnArgs }];
      }),
    );
    this.#limits = { ...GENERATOR_LIMITS, ...limits };
    this.#opensArgs = opensArgs;
    this.#guard = guard;
    this.#onThrown = onThrown;
    this.#budget = new GeneratorBudget(this.#limits, elapsedMs);
    this.#state = state;
    this.#scratch = new ScratchState(service, state, this.#budget);
    this.#hasBounded = hasBounded(service.tables);
    this.#known = new KnownEffects(service.tables, origins);
    const read = this.#hasBounded ? new RightsReader(this.#scratch, service.tables, site) : this.#scratch;
    const tables = tablesReader(service.tables, read, this.#budget);
    const { shadowBuilders: shadow, refusals } = service;
    this.#world = { name: escapeName(name), tables, shadow, scratchpad: this.#scratch, budget: this.#budget, refusals };
  }

  /**
   * Runs the generator of an operation.
   *
   * @throws CorrectableError `FINAL_FAILED` when the generator threw, without what that was, when it takes too long or
   * would give something else the next time; what its tools threw at it; `INVALID_VALUE` when its result breaks the
   * contract, or the operation is larger than any may be; never anything else, since it may be run long after whoever
   * asked for it could catch that.
   */
  run(input: GeneratorInput, state: StateReader = this.#state): GeneratorOutcome {
    this.#scratch.show(state);
    try {
      const outcome = this.#runInTime(input);
      if (this.#budget.isOfUpdate) checkOperationSize(outcome);
      if (input.seed < this.#limits.repeatedShare * 2 ** 32) this.#compare(input, outcome);
      return outcome;
    } catch (error) {
      throw this.#told(error, input.operation);
    }
  }

  /**
   * The clock goes on while the process is held up, which says nothing of the generator: one that took too long has another
   * run, and fails where that takes too long as well.
   */
  #runInTime(input: GeneratorInput): GeneratorOutcome {
    try {
      return this.#runOnce(input);
    } catch (error) {
      if (!this.#budget.isLate) throw error;
      return this.#runOnce(input);
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
      this.#checkMayBeLocal(operation);
      const reply = keptReply(this.#service.checkResult(operation, returned.result));
      return { reads, choice: undefined, reply, isLocal: true };
    }
    if (!(returned instanceof Chosen)) {
      return { reads, choice: undefined, reply: keptReply(this.#service.checkResult(operation, returned)) };
    }
    const { choice } = returned;
    this.#checkKnown(choice);
    this.#checkDeclared(operation, choice);
    this.#checkColour(choice);
    if (choice.colour === 'blue') this.#checkBlue(choice);
    else checkRed(choice, reads);
    const makesReply = choice.colour === 'red' && this.#service.shadowOperations[choice.shadow]?.reply !== undefined;
    return {
      reads,
      choice,
      reply: makesReply ? NO_REPLY : keptReply(this.#service.checkResult(operation, choice.reply)),
    };
  }

  #call(input: GeneratorInput): unknown {
    const { operation, args: given } = input;
    const runnable = this.#operations.get(operation);
    if (runnable === undefined) throw own(new CorrectableError('UNSUPPORTED', `No operation '${operation}' here.`));
    const { generator, isRead, hasOwnArgs } = runnable;
    this.#budget.begin(operation, !isRead);
    try {
      const context = new RunContext(input, this.#world);
      // It runs more than once: what it did to them is not what it was given.
      const args = this.#opensArgs ? given : hasOwnArgs ? keptOwnArgs(given as object) : keptArgs(given);
      const returned = this.#guard === undefined ? generator(args, context) : this.#guarded(generator, args, context);
      // As if it had been thrown: it may be that of another operation.
      if (returned instanceof Refusal) throw returned;
      return returned;
    } catch (error) {
      if (error instanceof Refusal && this.#service.refusals.declares(operation, error)) return error;
      throw error;
    } finally {
      this.#scratch.discard();
    }
  }

  #refused(operation: string, refusal: Refusal): CorrectableError {
    const error = this.#service.refusals.errorOf(operation, refusal);
    check(error.domain?.data, 'errors');
    return error;
  }

  /** What a client is told of something that was thrown: an error of ours, else only that there was something. */
  #told(thrown: unknown, operation: string): CorrectableError {
    const told = toldOf(thrown, (hidden) => this.#onThrown?.(`the generator of '${operation}'`, hidden));
    if (told !== undefined) return told;
    const message = `The generator of '${operation}' threw. Nothing was changed; the alarms of the site say what it threw.`;
    return ownError('FINAL_FAILED', message, `generators.${operation}`);
  }

  /** Holds a choice to the colour that the contract declares. */
  #checkDeclared(operation: string, { shadow, colour, effects }: Choice): void {
    if (colour === 'blue' && !this.#hasBounded) return;
    if (this.#service.contract.operations[operation]?.colour !== 'blue') return;
    if (colour === 'blue' && takesOf(this.#service.tables, effects).length === 0) return;
    const what = colour === 'blue' ? 'which is red where the site has no rights' : 'which is red';
    const message = `'${operation}' is declared blue but chose '${shadow}', ${what}. Leave its colour out of the contract.`;
    throw ownError('INVALID_ARGUMENT', message, `operations.${operation}.colour`);
  }

  /** Of an operation that its contract declares red no view is final at `causal`: its types say so. */
  #checkMayBeLocal(operation: string): void {
    if (this.#service.contract.operations[operation]?.colour !== 'red') return;
    const message = `'${operation}' is declared red but said local(). Leave that out, or its colour out of the contract.`;
    throw ownError('INVALID_ARGUMENT', message, `operations.${operation}.colour`);
  }

  /** Apart, since a function that makes another one pays for that even where it does not. */
  #guarded(generator: AnyGenerator, args: unknown, context: RunContext): unknown {
    return this.#guard?.(() => generator(args, context), this.#limits.timeMaxMs);
  }

  /** Runs once more: a generator that depends on anything else than its input and the state gives itself away. */
  #compare(input: GeneratorInput, first: GeneratorOutcome): void {
    const { operation } = input;
    const fail = (what: string): never => {
      const message = `The generator of '${operation}' is not deterministic: run twice on the same, ${what}. Take time, randomness and identifiers from its context.`;
      throw ownError('FINAL_FAILED', message, `generators.${operation}`);
    };
    let second: GeneratorOutcome;
    try {
      second = this.#runInTime(input);
    } catch (error) {
      this.#told(error, operation);
      return fail('it threw the second time');
    }
    if (!isSameChoice(first.choice, second.choice)) fail('it chose different effects');
    if (!structurallyEqual(first.refusal?.domain, second.refusal?.domain)) fail('it refused differently');
    if (first.isLocal !== second.isLocal) fail('its results were not both local');
    if (!structurallyEqual(first.reply, second.reply)) fail('it gave different results');
    if (!structurallyEqual(first.reads, second.reads)) fail('it read different things');
  }

  /** What no site could apply would end each that tries: nobody must get it, nor any log. */
  #checkKnown({ shadow, effects }: Choice): void {
    if (!Array.isArray(effects)) throw noList(shadow);
    this.#budget.checkEffects(effects.length);
    for (let at = 0; at < effects.length; at += 1) {
      const problem = this.#known.problemOfChosen(effects[at] as Effect);
      if (problem !== undefined) throw impossible(shadow, at, problem);
    }
  }

  /** What is red may stand for what is blue, as where a site has no rights. */
  #checkColour({ shadow, colour }: Choice): void {
    if (colour !== 'red' && colour !== this.#service.colours[shadow]) throw recoloured(shadow, colour);
  }

  /** Of a blue shadow operation its effects are kept, and of those the parts that effects have. */
  #checkBlue({ shadow, effects }: Choice): void {
    for (let at = 0; at < effects.length; at += 1) {
      const effect = effects[at] as Effect;
      if (this.#known.isBarredFromBlue(effect)) throw notBlue(shadow, effect);
      checkEffect(effect, at);
    }
  }
}

/** Without their replies: those are compared as they travel, where what `withMeta` has made is plain. */
function isSameChoice(a: Choice | undefined, b: Choice | undefined): boolean {
  return structurallyEqual(a && { ...a, reply: undefined }, b && { ...b, reply: undefined });
}

function noList(shadow: string): CorrectableError {
  const message = `'${shadow}' gives no list of effects. Nothing was changed: give one, as [row(key).field.action(value)].`;
  return ownError('INVALID_ARGUMENT', message, 'effects');
}

function impossible(shadow: string, at: number, problem: string): CorrectableError {
  const message = `'${shadow}' has an effect that cannot be: ${problem}. Nothing was changed: make effects by the tables, as row(key).field.action(value).`;
  return ownError('INVALID_ARGUMENT', message, `effects.${at}`);
}

function recoloured(shadow: string, colour: unknown): CorrectableError {
  const message = `'${shadow}' is not ${String(colour)}, as which it was chosen. Nothing was changed: return what the context gives as shadow.`;
  return ownError('INVALID_ARGUMENT', message, `shadow.${shadow}`);
}

function notBlue(shadow: string, offender: Effect): CorrectableError {
  const field = `${offender.table}.${offender.field === '' ? 'remove' : offender.field}`;
  const message = `'${shadow}' is blue but changes ${field}, which only red ones may. Make it red().`;
  return ownError('INVALID_ARGUMENT', message, field);
}

/** A site can have any name: what cannot stand in a URL as it is becomes the number of its character. */
function escapeName(name: string): string {
  return name.replaceAll(/[^\w.-]/gu, (character) => `~${character.codePointAt(0)?.toString(16)}~`);
}

/** The state that a generator sees: the snapshot, with what it has applied to its scratchpad. */
class ScratchState implements StateReader, Scratchpad {
  readonly #service: Service;
  readonly #notes: ReadNotes;
  #snapshot: StateReader;
  #overlay: Overlay | undefined;
  #applied = 0;

  /** Of `snapshot` until another one is shown; `notes` hears of what effects read when they are tried. */
  constructor(service: Service, snapshot: StateReader, notes: ReadNotes) {
    this.#service = service;
    this.#snapshot = snapshot;
    this.#notes = notes;
    Object.freeze(this);
  }

  // All runs of all services have it as their scratchpad: none can put something else in the place of what it does.
  static {
    for (const method of [this.prototype.apply, this.prototype.discard]) Object.freeze(method);
    Object.freeze(this.prototype);
  }

  /** Shows this snapshot from now on. */
  show(snapshot: StateReader): void {
    this.#snapshot = snapshot;
  }

  apply<R>({ choice }: Chosen<R>): R {
    const { shadow, args, effects, reply } = choice;
    this.#overlay ??= new Overlay(this.#service.tables, this.#snapshot);
    this.#applied += 1;
    const results = this.#overlay.add(this.#applied, effects);
    const makeReply = this.#service.shadowOperations[shadow]?.reply;
    if (makeReply === undefined) return replyOf(reply).value as R;
    for (const effect of effects) this.#noteRead(effect);
    return replyOf(makeReply(results.map(handedOut), kept(args))).value as R;
  }

  /** What an effect that reads its field yields, the generator knows from its reply. */
  #noteRead(effect: Effect): void {
    const { tables } = this.#service;
    if (isRedOnly(tables, effect)) noteField(effect, tables[effect.table]?.removable === true, this.#notes);
  }

  discard(): void {
    this.#overlay = undefined;
    this.#applied = 0;
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
