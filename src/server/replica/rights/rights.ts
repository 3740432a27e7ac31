/**
 * The rights of one site to bounded fields (docs/spec/rights.md): whether it may take by itself, what it asks others for,
 * and what it gives them. A pure part of a pure replica: rights travel as blue operations of this site's stream, like any
 * other, and are asked for by messages, which may be lost, repeated or late.
 */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { BluePath } from '../causal/blue-path.ts';
import type { GeneratorOutcome } from '../../generator/generator-run.ts';
import { rightsAwayError } from '../../records/failure.ts';
import { operationId } from '../../records/operation-id.ts';
import { RED } from '../../records/origin.ts';
import type { Origin } from '../../records/origin.ts';
import { ownError } from '../../records/own-errors.ts';
import type { AskedRights, BlueOperation, OperationId, RedOperation, RightsMessage } from '../../records/records.ts';
import type { Submission } from '../../records/submissions.ts';
import { isOnBounded, takesOf } from '../../service/takes.ts';
import type { Need } from '../../service/takes.ts';
import { transferEffect } from '../../service/fields/bounded.ts';
import type { Transfer } from '../../service/fields/bounded.ts';
import type { Ledger } from '../../service/fields/ledger.ts';
import type { StateReader } from '../../state/store.ts';
import type { ReplicaCore } from '../core/replica-port.ts';
import { Lack } from '../core/rights-port.ts';
import type { RightsPort, RightsWaiter } from '../core/rights-port.ts';
import { nameOf } from './field-name.ts';
import type { BoundedName } from './field-name.ts';
import { InFlight } from './in-flight.ts';
import { WaitingForRights } from './waiting.ts';

/** Stands for the shadow operation of a transfer: services have none of this name. */
const TRANSFER = '\u0000rights';

/** What rights are asked for: to be here later, or for somebody who waits. */
const WHATS = ['later', 'here', 'pool'] as const;
type What = (typeof WHATS)[number];

interface RightsHost {
  readonly core: ReplicaCore;
  readonly blue: BluePath;
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
  /** By field and for what: when rights were last asked for, unless some have come since. */
  readonly #asked = new Map<string, number>();
  /** By site and field: the stamp of the last operation that gave it some. */
  readonly #answered = new Map<string, number>();
  #transfers = 0;

  constructor(host: RightsHost, startName: string) {
    this.#host = host;
    this.core = host.core;
    this.#client = `${startName}.rights`;
    this.#inFlight = new InFlight(this.core.options.service.tables);
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
    const { store } = this.core.state;
    const beyond = needs.find((need) => need.amount > ledgerOf(store, need).left);
    if (beyond !== undefined) return beyondError(choice.shadow, beyond);
    if (needs.every((need) => this.mayTake(need))) return outcome;
    if (needs.every((need) => need.amount <= this.poolOf(need, store))) {
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

  wait(lack: Lack, waiter: RightsWaiter): void {
    const { nowMs, options } = this.core;
    this.#waiting.add({ waiter, lack, untilMs: nowMs + options.reachTimeoutMs, askedAtMs: nowMs });
    this.#urge(lack);
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
    let isOwn = 'epoch' in operation && site === options.site && operation.epoch === options.epoch;
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
      if (action === 'transfer') this.#come(name, (value as Transfer).to);
    }
  }

  /** Shares what was given, and lets those go on that may have what they lacked. */
  pump(): void {
    if (this.#changed.size === 0 || !this.#host.blue.isRecovered) return;
    const [changed, given] = [this.#changed, this.#given];
    this.#changed = new Set();
    this.#given = [];
    for (const each of given) this.#share(each);
    this.#waiting.retry(changed);
    for (const { lack } of this.#waiting.silentSince(Infinity)) {
      if (lack.needs.some((need) => changed.has(nameOf(need)))) this.#urge(lack);
    }
  }

  /** Asks again where nothing came; says so where nothing came for long. */
  tick(): void {
    const { nowMs, options } = this.core;
    for (const { waiter, lack } of this.#waiting.takeLate(nowMs)) {
      waiter.late(rightsAwayError(lack.needs[0], options.reachTimeoutMs));
    }
    for (const waiting of this.#waiting.silentSince(nowMs - options.resendAfterMs)) {
      waiting.askedAtMs = nowMs;
      this.#urge(waiting.lack);
    }
  }

  /** Gives of what this site has, unless what it gave last is still on its way. */
  receive(from: Origin, { asked, seen }: RightsMessage): void {
    if (!this.#host.blue.isRecovered) return;
    for (const each of asked) {
      if (!isOnBounded(this.core.options.service.tables, each)) continue;
      const name = `${from} ${nameOf(each)}`;
      if ((this.#answered.get(name) ?? 0) > seen) continue;
      const given = this.#givenTo(from, each);
      if (given === undefined) continue;
      const { vector, site } = this.#transfer(each, [given]);
      this.#answered.set(name, vector[site] ?? 0);
    }
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
    const ledger = ledgerOf(state.store, name);
    // Of more, the difference is not exact: what stands above that has to wait until some is taken.
    const held = Math.min(ledger.at(options.site), Number.MAX_SAFE_INTEGER);
    return ledger.isClosed(options.site) ? 0 : held - this.#inFlight.of(name);
  }

  /** The other sites that may hold rights. */
  #others(ledger: Ledger): readonly Origin[] {
    const { origins, site } = this.core.options;
    return origins.others(site).filter((each) => !ledger.isClosed(each));
  }

  /** Asks for more in the background, once less than half of an equal share is left here. */
  #refill(name: BoundedName): void {
    const ledger = ledgerOf(this.core.state.store, name);
    const others = this.#others(ledger);
    const available = this.#available(name);
    const share = (ledger.left - Math.max(0, ledger.pool)) / (others.length + 1);
    if (available * 2 >= share) return;
    const richest = others.toSorted((a, b) => ledger.at(b) - ledger.at(a))[0];
    if (richest === undefined) return;
    const amount = Math.min(Math.ceil(share - available), Math.floor(ledger.at(richest) / 2));
    if (amount > 0 && this.#mayAsk(name, 'later')) this.#ask(richest, { ...only(name), amount });
  }

  /** Once at a time, unless an answer is overdue. */
  #mayAsk(name: BoundedName, what: What): boolean {
    const { nowMs, options } = this.core;
    const asked = what + nameOf(name);
    const askedAtMs = this.#asked.get(asked);
    if (askedAtMs !== undefined && nowMs - askedAtMs < options.resendAfterMs) return false;
    this.#asked.set(asked, nowMs);
    return true;
  }

  /** Some have come: who needs more may ask again. */
  #come(name: string, to: Origin): void {
    if (to !== RED && to !== this.core.options.site) return;
    for (const what of WHATS) this.#asked.delete(what + name);
  }

  /** Somebody waits: all who hold something are asked, and what is here goes where the rest will come to. */
  #urge({ needs, isRed }: Lack): void {
    const { store } = this.core.state;
    for (const need of needs) {
      const ledger = ledgerOf(store, need);
      const lacking = need.amount - ledger.pool;
      if (lacking <= 0) continue;
      const waits = isRed ? 'pool' : 'here';
      if (!this.#mayAsk(need, waits)) continue;
      // Of several needs some may be here: together they are had in the pool alone.
      const own = Math.min(this.#available(need), lacking);
      if (own > 0) this.#transfer(need, [{ to: RED, amount: own }]);
      for (const site of this.#others(ledger)) {
        if (ledger.at(site) > 0) this.#ask(site, { ...only(need), amount: isRed ? lacking : need.amount, waits });
      }
    }
  }

  #ask(site: Origin, asked: AskedRights): void {
    const seen = this.core.state.stable[site] ?? 0;
    this.core.emit({ kind: 'send', to: site, message: { kind: 'rights.ask', asked: [asked], seen } });
  }

  /** Half of what is here at most; all of it, into the pool, where that is too little for who waits. */
  #givenTo(from: Origin, { amount, waits, ...name }: AskedRights): Transfer | undefined {
    const available = this.#available(name);
    if (available <= 0) return undefined;
    const half = Math.floor(available / 2);
    const isClosed = ledgerOf(this.core.state.store, name).isClosed(from);
    if (waits === 'pool' || isClosed) return { to: RED, amount: Math.min(available, amount) };
    if (waits === 'here') return half >= amount ? { to: from, amount: half } : { to: RED, amount: available };
    return half > 0 ? { to: from, amount: Math.min(amount, half) } : undefined;
  }

  /** Others get equal shares of what was given here, before they ask. */
  #share({ amount, ...name }: Need): void {
    const others = this.#others(ledgerOf(this.core.state.store, name));
    const share = Math.floor(Math.min(amount, this.#available(name)) / (others.length + 1));
    if (share > 0 && others.length > 0) {
      this.#transfer(
        name,
        others.map((to) => ({ to, amount: share })),
      );
    }
  }

  #transfer(name: BoundedName, transfers: readonly Transfer[]): BlueOperation {
    this.#transfers += 1;
    const id = operationId(this.#client, this.#transfers);
    const effects = transfers.map((each) => transferEffect(name, each));
    const choice = { shadow: TRANSFER, colour: 'blue', args: undefined, effects, reply: undefined } as const;
    return this.#host.blue.commit({ id, hop: undefined, choice, reply: { value: null } });
  }
}

function ledgerOf(state: StateReader, { table, key, field }: BoundedName): Ledger {
  return state.read(table, key, field) as Ledger;
}

function only({ table, key, field }: BoundedName): BoundedName {
  return { table, key, field };
}

/** A generator that has looked would not have chosen it. */
function beyondError(shadow: string, { table, field, amount }: Need): CorrectableError {
  const message = `'${shadow}' takes ${amount} of ${table}.${field}, and less than that stands. Nothing was done: let the generator look at what is left.`;
  return ownError('FINAL_FAILED', message, `${table}.${field}`);
}
