/**
 * The rights of one site to bounded fields (docs/spec/rights.md): whether it may take by itself, what it asks others for,
 * and what it gives them. A pure part of a pure replica: rights travel as blue operations of this site's stream, like any
 * other, and are asked for by messages, which may be lost, repeated or late.
 */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { BluePath } from '../causal/blue-path.ts';
import type { GeneratorOutcome } from '../../generator/generator-run.ts';
import type { ReadSet } from '../../generator/read-set.ts';
import type { Effect } from '../../records/effect.ts';
import { rightsAwayError, rightsFullError } from '../../records/failure.ts';
import { operationId } from '../../records/operation-id.ts';
import { RED, type Origin } from '../../records/origin.ts';
import type { AskedRights, BlueOperation, OperationId, RedOperation, RightsMessage } from '../../records/records.ts';
import type { Submission } from '../../records/submissions.ts';
import { beyondError, isOnBounded, takesOf, type Need } from '../../service/takes.ts';
import { transferEffect, type Transfer } from '../../service/fields/bounded.ts';
import type { Ledger } from '../../service/fields/ledger.ts';
import type { StateReader } from '../../state/store.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import { Lack, RIGHTS_SHADOW, type RightsPort, type RightsWaiter } from '../core/rights-port.ts';
import { Answered } from './answered.ts';
import { EarlyQuestions, type EarlyQuestion } from './early-questions.ts';
import { nameOf, type BoundedName } from './field-name.ts';
import { InFlight } from './in-flight.ts';
import { Questions, type Turn, type What } from './questions.ts';
import { WaitingForRights, type Wanted } from './waiting.ts';

const NO_FIELDS: ReadonlySet<string> = new Set();
const NO_READS: ReadSet = { names: new Set(), ranges: [] };

/** Whom a question goes to. */
const ASKED: Readonly<Record<Turn, typeof fromAll>> = { first: fromRichest, again: fromAll };

interface RightsHost {
  readonly core: ReplicaCore;
  readonly blue: BluePath;
  readonly red: {
    /** Proposes what the site does by itself; nothing comes of it where it is rejected. */
    proposeOwn(id: OperationId, outcome: GeneratorOutcome): void;
  };
}

/** The rights of this site. */
export class Rights implements RightsPort {
  readonly #inFlight: InFlight;
  readonly #host: RightsHost;
  protected readonly core: ReplicaCore;
  /** Of this start of the site: no other start names operations like it. */
  readonly #client: string;
  readonly #waiting = new WaitingForRights();
  /** Own blue operations on bounded fields that are decided at this start and not applied yet. */
  readonly #decided = new Set<OperationId>();
  /** Fields that have changed since who waits has looked. */
  #changed = new Set<string>();
  /** What own operations have given, of which others get their share. */
  #given: Need[] = [];
  /** By name: fields of which own red operations have drawn on the pool since who waits has looked. */
  #drawn = new Map<string, BoundedName>();
  readonly #questions: Questions;
  readonly #early = new EarlyQuestions();
  /** By field: when another site last asked for it, for somebody who waits there. */
  readonly #wantedElsewhere = new Map<string, number>();
  readonly #answered: Answered;
  #transfers = 0;

  constructor(host: RightsHost, startName: string) {
    this.#host = host;
    this.core = host.core;
    this.#client = `${startName}.rights`;
    this.#inFlight = new InFlight(this.core.options.service.tables);
    this.#questions = this.createQuestions();
    this.#answered = new Answered(this.core.options.reachTimeoutMs);
  }

  get busy(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether somebody who asks for this operation waits. */
  hasOf(id: OperationId): boolean {
    return this.#waiting.hasOf(id);
  }

  /** Nobody waits any more for what was submitted under this serial: gives it, if it was here. */
  leave(serial: number): Submission | undefined {
    return this.#waiting.leave(serial);
  }

  decided(outcome: GeneratorOutcome): GeneratorOutcome | Lack | CorrectableError {
    const { choice } = outcome;
    if (choice === undefined || choice.colour === 'red') return outcome;
    const needs = this.#needsOf(outcome);
    if (needs.length === 0) return outcome;
    const { store, overlay } = this.core.state;
    const beyond = needs.find((need) => need.amount > ledgerOf(store, need).left);
    if (beyond !== undefined) return beyondError(choice.shadow, beyond);
    if (needs.every((need) => this.mayTake(need))) return outcome;
    // Less what own red operations in flight will draw: who is red waits for the pool alone.
    if (needs.every((need) => need.amount <= this.poolOf(need, overlay))) {
      return { ...outcome, choice: { ...choice, colour: 'red' } };
    }
    return new Lack(needs, false);
  }

  lackInRed(outcome: GeneratorOutcome, state: StateReader): Lack | undefined {
    const needs = this.#needsOf(outcome);
    if (needs.length === 0) return undefined;
    const beyond = needs.find((need) => need.amount > ledgerOf(state, need).left);
    if (beyond !== undefined) throw beyondError(outcome.choice?.shadow ?? '', beyond);
    return needs.every((need) => need.amount <= this.poolOf(need, state)) ? undefined : new Lack(needs, true);
  }

  get refusal(): CorrectableError | undefined {
    const { redInFlightMax = Infinity } = this.core.options;
    return this.#waiting.size >= redInFlightMax ? rightsFullError(redInFlightMax) : undefined;
  }

  wait(lack: Lack, waiter: RightsWaiter): void {
    const { nowMs, options } = this.core;
    this.#waiting.add({ waiter, lack, untilMs: (waiter.sinceMs ?? nowMs) + options.reachTimeoutMs });
    for (const need of lack.needs) this.#urge(nameOf(need));
  }

  committed({ id, effects }: BlueOperation): void {
    const { tables } = this.core.options.service;
    if (!effects.some((effect) => isOnBounded(tables, effect))) return;
    this.#decided.add(id);
    this.#inFlight.add(effects);
    for (const need of takesOf(tables, effects)) this.#refill(need);
  }

  applied(operation: BlueOperation | RedOperation): void {
    const { id, site, effects } = operation;
    const { options } = this.core;
    const isRed = 'epoch' in operation;
    let isOwn = isRed && site === options.site && operation.epoch === options.epoch;
    for (const effect of effects) {
      if (!isOnBounded(options.service.tables, effect)) continue;
      if (site === options.site && this.#decided.delete(id)) {
        isOwn = true;
        this.#inFlight.remove(effects);
      }
      const { table, key, field, action, value } = effect;
      const name = nameOf(effect);
      this.#changed.add(name);
      if (action === 'give' && isOwn) this.#given.push({ table, key, field, amount: value as number });
      if (action === 'take' && isOwn && isRed) this.#drawn.set(name, { table, key, field });
      // What this site hands in itself is no answer.
      if (action === 'transfer' && (isRed || site !== options.site)) this.#come(effect);
    }
  }

  takenOff(effects: readonly Effect[]): void {
    if (this.#waiting.size === 0) return;
    for (const need of takesOf(this.core.options.service.tables, effects)) this.#changed.add(nameOf(need));
  }

  /**
   * Shares what was given, lets those go on that may have what they lacked, gives to those who have asked for what was not
   * here yet, and gives back what nobody waits for.
   */
  pump(): void {
    if (this.#changed.size === 0 || !this.#host.blue.isRecovered) return;
    const [changed, given, drawn] = [this.#changed, this.#given, this.#drawn];
    this.#changed = new Set();
    this.#given = [];
    this.#drawn = new Map();
    for (const each of given) this.#share(each);
    this.#waiting.retry(changed);
    for (const field of changed) this.#urge(field);
    for (const question of this.#early.takeOf(changed, this.core.nowMs)) this.#answer(question);
    for (const name of drawn.values()) this.#shareOut(name);
  }

  /** Asks again where nothing came; says so where nothing came for long. */
  tick(): void {
    const { nowMs, options } = this.core;
    this.#early.forget(nowMs);
    this.#waiting.retry(NO_FIELDS);
    for (const { waiter, lack } of this.#waiting.takeLate(nowMs)) {
      // One that came before may have decided what this one is about: a copy of it.
      if (waiter.isOver?.() === true) waiter.over?.();
      else waiter.late(rightsAwayError(lack.needs[0], options.reachTimeoutMs));
    }
    for (const field of this.#waiting.fields) this.#urge(field);
  }

  /** Gives of what this site has, unless what it gave last is still on its way. */
  receive(from: Origin, { asked, seen }: RightsMessage): void {
    const { nowMs, options } = this.core;
    if (!this.#host.blue.isRecovered) return;
    for (const each of asked) {
      if (!isOnBounded(options.service.tables, each)) continue;
      if (each.waits !== undefined) this.#noteWanted(nameOf(each));
      this.#answer({ from, asked: each, seen, untilMs: nowMs + options.resendAfterMs });
    }
  }

  protected createQuestions(): Questions {
    return new Questions(this.core.options);
  }

  /** Whether this site may take so much by itself: by what the ledger says, less what it has decided already. */
  protected mayTake(need: Need): boolean {
    return need.amount <= this.#available(need);
  }

  /** What the red order may take, as `state` shows it. */
  protected poolOf(need: Need, state: StateReader): number {
    return ledgerOf(state, need).pool;
  }

  #needsOf({ choice }: GeneratorOutcome): readonly Need[] {
    return takesOf(this.core.options.service.tables, choice?.effects ?? []);
  }

  #available(name: BoundedName): number {
    const { state, options } = this.core;
    return exactly(ledgerOf(state.store, name).at(options.site)) - this.#inFlight.of(name);
  }

  /** The other sites. */
  get #others(): readonly Origin[] {
    const { origins, site } = this.core.options;
    return origins.others(site);
  }

  /** Asks for more in the background, once less than half of an equal share is left here. */
  #refill(name: BoundedName): void {
    const ledger = ledgerOf(this.core.state.store, name);
    const others = this.#others;
    const available = this.#available(name);
    const share = equalShare(ledger, others);
    if (available * 2 >= share) return;
    const lacking = Math.ceil(share - available);
    const turn = this.#turn(name, 'later', others, halfIn(ledger));
    if (turn !== undefined) this.#ask(name, ASKED[turn](lacking, others, halfIn(ledger)));
  }

  /** Something has come that helps here: who needs more may ask again. */
  #come(effect: Effect): void {
    const { to } = effect.value as Transfer;
    if (to === RED || to === this.core.options.site) this.#questions.answered(effect);
  }

  /** For who waits: of others as much as they can spare, to be taken here; where that is too little, into the pool. */
  #urge(field: string): void {
    const wanted = this.#waiting.wantedOf(field);
    if (wanted === undefined) return;
    const { name, amount, ofPool } = wanted;
    const ledger = ledgerOf(this.core.state.store, name);
    const others = this.#others;
    if (ofPool > 0) return this.#gather(wanted, ledger);
    const lacking = amount - this.#available(name);
    const spared = fromRichest(lacking + Math.floor(equalShare(ledger, others)), others, halfIn(ledger));
    if (totalOf(spared) < lacking) return this.#gather(wanted, ledger);
    const turn = this.#turn(name, 'here', others, halfIn(ledger));
    if (turn === 'first') this.#ask(name, spared, 'here');
    else if (turn === 'again') this.#gather(wanted, ledger, turn);
  }

  /** No more than who waits here lacks comes together in the pool: what is here, and what others have. */
  #gather(wanted: Wanted, ledger: Ledger, asked?: Turn): void {
    const { name } = wanted;
    const { nowMs } = this.core;
    const lacking = this.#wantedOfPool(wanted, ledger) - ledger.pool - this.#inFlight.handedIn(name);
    if (lacking <= 0 || (asked === undefined && this.#questions.isOpen(name, 'pool', nowMs))) return;
    const own = Math.min(this.#available(name), lacking);
    if (own > 0) this.#transfer(name, [{ to: RED, amount: own }]);
    const others = this.#others;
    const turn = own === lacking ? undefined : (asked ?? this.#turn(name, 'pool', others, allIn(ledger)));
    if (turn !== undefined) this.#ask(name, ASKED[turn](lacking - own, others, allIn(ledger)), 'pool');
  }

  /** Whether it may be asked now. Where nobody shows any, nothing is asked and nothing counts: a share may be on its way. */
  #turn(name: BoundedName, what: What, others: readonly Origin[], mayGive: MayGive<Origin>): Turn | undefined {
    if (!others.some((each) => mayGive(each) > 0)) return undefined;
    return this.#questions.turn(name, what, this.core.nowMs);
  }

  /** Red operations behind one that waits will draw on the pool too: they are not to wait one after the other. */
  #wantedOfPool({ name, amount, inRed }: Wanted, ledger: Ledger): number {
    const inFlight = ledger.pool - ledgerOf(this.core.state.overlay, name).pool;
    return amount - inRed + Math.max(inRed, inFlight);
  }

  #ask(name: BoundedName, portions: readonly Portion<Origin>[], waits?: 'here' | 'pool'): void {
    for (const { from, amount } of portions) {
      const seen = this.core.state.stable[from] ?? 0;
      const asked = [{ ...only(name), amount, ...(waits && { waits }) }];
      this.core.emit({ kind: 'send', to: from, message: { kind: 'rights.ask', asked, seen } });
    }
  }

  #answer(question: EarlyQuestion): void {
    const { from, asked, seen } = question;
    const { nowMs } = this.core;
    const field = nameOf(asked);
    if (this.#answered.isOnItsWay(from, field, seen, nowMs)) return;
    const given = this.#givenTo(from, asked);
    if (given === undefined) return this.#early.keep(question);
    const { vector, site } = this.#transfer(asked, [given]);
    this.#answered.note(from, field, { stamp: vector[site] ?? 0, atMs: nowMs });
  }

  /** Half of what is here at most; where that is too little for who waits, what he lacks goes into the pool. */
  #givenTo(from: Origin, { amount, waits, ...name }: AskedRights): Transfer | undefined {
    const available = this.#available(name);
    const half = Math.floor(available / 2);
    const isOfPool = waits === 'pool' || (waits === 'here' && half < amount);
    const given = Math.min(amount, isOfPool ? available : half);
    return given > 0 ? { to: isOfPool ? RED : from, amount: given } : undefined;
  }

  /** Who has drawn on the pool gives back what is left there, in equal shares, unless somebody wants it. */
  #shareOut(name: BoundedName): void {
    this.#forgetWanted();
    const { state, options } = this.core;
    const ledger = ledgerOf(state.store, name);
    const field = nameOf(name);
    if (ledgerOf(state.overlay, name).pool < ledger.pool) return;
    if (this.#waiting.wantedOf(field) !== undefined || this.#wantedElsewhere.has(field)) return;
    const { sites } = options.origins;
    const amount = Math.floor(exactly(ledger.pool) / sites.length);
    if (amount === 0) return;
    const effects = sites.map((to) => transferEffect(name, { to, amount }));
    const choice = { shadow: RIGHTS_SHADOW, colour: 'red', args: undefined, effects, reply: undefined } as const;
    this.#host.red.proposeOwn(this.#nextId(), { reads: NO_READS, choice, reply: { value: null } });
  }

  #noteWanted(field: string): void {
    this.#forgetWanted();
    // The latest stands last.
    this.#wantedElsewhere.delete(field);
    this.#wantedElsewhere.set(field, this.core.nowMs);
  }

  /** What was asked for elsewhere so long ago that nobody waits for it any more. */
  #forgetWanted(): void {
    const { nowMs, options } = this.core;
    for (const [field, atMs] of this.#wantedElsewhere) {
      if (nowMs - atMs < options.reachTimeoutMs) return;
      this.#wantedElsewhere.delete(field);
    }
  }

  /** Others get equal shares of what was given here, before they ask. */
  #share({ amount, ...name }: Need): void {
    const others = this.#others;
    const share = Math.floor(Math.min(amount, this.#available(name)) / (others.length + 1));
    if (share > 0 && others.length > 0) {
      this.#transfer(
        name,
        others.map((to) => ({ to, amount: share })),
      );
    }
  }

  #transfer(name: BoundedName, transfers: readonly Transfer[]): BlueOperation {
    const id = this.#nextId();
    const effects = transfers.map((each) => transferEffect(name, each));
    const choice = { shadow: RIGHTS_SHADOW, colour: 'blue', args: undefined, effects, reply: undefined } as const;
    return this.#host.blue.commit({ id, hop: undefined, choice, reply: { value: null } });
  }

  #nextId(): OperationId {
    this.#transfers += 1;
    return operationId(this.#client, this.#transfers);
  }
}

function ledgerOf(state: StateReader, { table, key, field }: BoundedName): Ledger {
  return state.read(table, key, field) as Ledger;
}

/** Of more, differences are not exact: what stands above that has to wait until some is taken. */
function exactly(amount: number): number {
  return Math.min(amount, Number.MAX_SAFE_INTEGER);
}

/** What each of the sites would have, if they all had as much. */
function equalShare(ledger: Ledger, others: readonly Origin[]): number {
  return (ledger.left - Math.max(0, ledger.pool)) / (others.length + 1);
}

const allIn =
  (ledger: Ledger) =>
  (site: Origin): number =>
    exactly(ledger.at(site));

/** What a site gives of it and has enough itself. */
const halfIn =
  (ledger: Ledger) =>
  (site: Origin): number =>
    Math.floor(exactly(ledger.at(site)) / 2);

function only({ table, key, field }: BoundedName): BoundedName {
  return { table, key, field };
}

/** So much of one holder. */
interface Portion<H> {
  readonly from: H;
  readonly amount: number;
}

type MayGive<H> = (holder: H) => number;

/** Of the richest as much as it may give, of the next one the rest, and so on: of no more of them than have it all. */
export function fromRichest<H>(amount: number, holders: readonly H[], mayGive: MayGive<H>): readonly Portion<H>[] {
  let rest = amount;
  return holders
    .toSorted((a, b) => mayGive(b) - mayGive(a))
    .map((from) => {
      const portion = Math.min(rest, mayGive(from));
      rest -= portion;
      return { from, amount: portion };
    })
    .filter(isSome);
}

/** All of it of each: some of them do not answer. */
export function fromAll<H>(amount: number, holders: readonly H[], mayGive: MayGive<H>): readonly Portion<H>[] {
  return holders.map((from) => ({ from, amount: Math.min(amount, mayGive(from)) })).filter(isSome);
}

function totalOf(portions: readonly Portion<unknown>[]): number {
  return portions.reduce((total, { amount }) => total + amount, 0);
}

function isSome({ amount }: Portion<unknown>): boolean {
  return amount > 0;
}
