/**
 * The rights of one site to bounded fields (docs/spec/rights.md): whether it may take by itself,
 * what it requests from others, and what it gives them. Rights travel as blue operations of this
 * site's stream. Requests are messages, which may be lost, repeated or late.
 */
import type { Settling, SitePart } from '../../core/site-part.ts';
import type { Submission } from '../../core/submissions.ts';
import type { CorrectableError } from '../../../../correctable/errors.ts';
import type { GeneratorOutcome } from '../../../service/generator/generator-runner.ts';
import type { ReadSet } from '../../../service/generator/read-set.ts';
import type { Color, Effect } from '../../../service/records/effect.ts';
import { rightsFullError, rightsUnreachableError } from '../../../service/records/failures.ts';
import { formatOperationId } from '../../core/operation-id.ts';
import { type Origin, RED } from '../../../service/records/origin.ts';
import type {
  BlueOperation,
  OperationId,
  RedOperation,
  RightsMessage,
  RightsRequest,
} from '../../../service/records/records.ts';
import type { Choice } from '../../../service/records/reply.ts';
import {
  type RightsNeed,
  isOnBoundedField,
  sumTakes,
  takeTooLargeError,
} from '../../../service/bounded-takes.ts';
import { type Transfer, createTransferEffect } from '../../../service/fields/bounded-counter.ts';
import { type Ledger, getLeft } from '../../../service/fields/ledger.ts';
import type { StateReader } from '../../../service/state/store.ts';
import type { BluePath } from '../blue/blue-path.ts';
import type { SiteCore } from '../../core/site-core.ts';
import {
  RIGHTS_TRANSFER_SHADOW,
  type RightsPort,
  RightsShortfall,
  type RightsWaiter,
} from '../../core/rights-port.ts';
import { InFlightAmounts } from './in-flight-amounts.ts';
import { giveAll, giveHalf, readLedger, toExactNumber, toFieldName } from './rights-ledgers.ts';
import {
  AnsweredRequests,
  type BoundedName,
  type EarlyRequest,
  EarlyRequests,
  type RequestMode,
  type RequestTarget,
  RightsRequests,
  formatFieldKey,
} from './rights-requests.ts';
import { RightsWaitList, type WantedRights } from './rights-wait-list.ts';
import {
  type MaxGrant,
  type Portion,
  splitByAll,
  splitByRichest,
  sumPortions,
} from './split-amount.ts';

const NO_FIELDS: ReadonlySet<string> = new Set();
const NO_READS: ReadSet = { names: new Set(), ranges: [] };

const SPLIT_BY_MODE: Readonly<Record<RequestMode, typeof splitByAll>> = {
  first: splitByRichest,
  again: splitByAll,
};

/** The part of the red path that moves rights. */
interface OwnProposals {
  /** Proposes an operation of the site itself. If it is rejected, it has no effect. */
  proposeOwn(id: OperationId, outcome: GeneratorOutcome): void;
}

/** The classes of the parts of `Rights`. Tests replace some. */
export const RIGHTS_PARTS = { RightsRequests };

export class Rights implements RightsPort, SitePart, Settling {
  /** Whether fields have changed since waiting operations were last retried. */
  isDue = false;
  readonly kinds = ['rights.request'] as const;
  readonly #inFlight: InFlightAmounts;
  readonly core: SiteCore;
  readonly #blue: BluePath;
  readonly #red: OwnProposals;
  /** The prefix of this start's transfers. No other start names operations like it. */
  readonly #client: string;
  /** Operations that wait for rights here. */
  readonly waiting = new RightsWaitList();
  /** Own blue operations on bounded fields that are decided at this start and not applied yet. */
  readonly #decided = new Set<OperationId>();
  /** Fields that have changed since waiting operations were last retried. */
  #changed = new Set<string>();
  /** Amounts that own operations have given, of which other sites get their share. */
  #grantedFields: RightsNeed[] = [];
  /**
   * By name: fields for which own red operations have used the pool since waiting operations were
   * last retried.
   */
  #drawnFields = new Map<string, BoundedName>();
  readonly #requests: RightsRequests;
  readonly #earlyRequests: EarlyRequests;
  /** By field: when another site last requested it for an operation that waits there. */
  readonly #wantedBySites = new Map<string, number>();
  readonly #answeredRequests: AnsweredRequests;
  #transfers = 0;

  constructor(
    core: SiteCore,
    blue: BluePath,
    red: OwnProposals,
    startName: string,
    parts: typeof RIGHTS_PARTS,
  ) {
    this.core = core;
    this.#blue = blue;
    this.#red = red;
    this.#client = `${startName}.rights`;
    this.#inFlight = new InFlightAmounts(this.core.options.service.tables);
    this.#requests = new parts.RightsRequests(core.options);
    this.#earlyRequests = new EarlyRequests(core.options.sizes);
    this.#answeredRequests = new AnsweredRequests(this.core.options.reachTimeoutMs);
  }

  get isBusy(): boolean {
    return this.waiting.size > 0;
  }

  resolvePath(outcome: GeneratorOutcome): GeneratorOutcome | RightsShortfall | CorrectableError {
    const { choice } = outcome;
    if (choice === undefined || choice.color === 'red') return outcome;
    const needs = this.#getNeeds(outcome);
    if (needs.length === 0) return outcome;
    const { store, overlay } = this.core.state;
    const beyond = needs.find((need) => need.amount > this.#getLeft(readLedger(store, need)));
    if (beyond !== undefined) return takeTooLargeError(choice.shadow, beyond);
    if (needs.every((need) => this.mayTake(need))) return outcome;
    // The overlay has deducted what own red operations in flight will take: a red operation can use
    // the pool alone.
    if (needs.every((need) => need.amount <= this.getPool(need, overlay))) {
      return { ...outcome, choice: { ...choice, color: 'red' } };
    }
    return new RightsShortfall(needs, false);
  }

  findRedShortfall(outcome: GeneratorOutcome, state: StateReader): RightsShortfall | undefined {
    const needs = this.#getNeeds(outcome);
    if (needs.length === 0) return undefined;
    const beyond = needs.find((need) => need.amount > this.#getLeft(readLedger(state, need)));
    if (beyond !== undefined) throw takeTooLargeError(outcome.choice?.shadow ?? '', beyond);
    return needs.every((need) => need.amount <= this.getPool(need, state))
      ? undefined
      : new RightsShortfall(needs, true);
  }

  get rejection(): CorrectableError | undefined {
    const { maxRedInFlight = Infinity } = this.core.options;
    return this.waiting.size >= maxRedInFlight ? rightsFullError(maxRedInFlight) : undefined;
  }

  wait(shortfall: RightsShortfall, waiter: RightsWaiter): void {
    const { nowMs, options } = this.core;
    this.waiting.add({
      waiter,
      shortfall,
      untilMs: (waiter.sinceMs ?? nowMs) + options.reachTimeoutMs,
    });
    for (const need of shortfall.needs) this.#requestForWaiters(formatFieldKey(need));
  }

  onCommitted({ id, effects }: BlueOperation): void {
    const { tables } = this.core.options.service;
    if (!effects.some((effect) => isOnBoundedField(tables, effect))) return;
    this.#decided.add(id);
    this.#inFlight.add(effects);
    for (const need of sumTakes(tables, effects)) this.#refill(need);
  }

  onApplied(operation: BlueOperation | RedOperation): void {
    const { id, site, effects } = operation;
    const { options } = this.core;
    const isRed = 'epoch' in operation;
    let isOwn = isRed && site === options.site && operation.epoch === options.epoch;
    for (const effect of effects) {
      if (!isOnBoundedField(options.service.tables, effect)) continue;
      if (site === options.site && this.#decided.delete(id)) {
        isOwn = true;
        this.#inFlight.remove(effects);
      }
      const { table, key, field, action, value } = effect;
      const name = formatFieldKey(effect);
      this.#noteChanged(name);
      if (action === 'give' && isOwn)
        this.#grantedFields.push({
          table,
          key,
          field,
          amount: value as number,
        });
      if (action === 'take' && isOwn && isRed) this.#drawnFields.set(name, { table, key, field });
      // An own transfer is no answer to an own request.
      if (action === 'transfer' && (isRed || site !== options.site)) this.#onReceived(effect);
    }
  }

  onRedRemoved(effects: readonly Effect[]): void {
    if (this.waiting.size === 0) return;
    for (const need of sumTakes(this.core.options.service.tables, effects))
      this.#noteChanged(formatFieldKey(need));
  }

  #noteChanged(field: string): void {
    this.#changed.add(field);
    this.isDue = true;
  }

  /**
   * Shares granted rights, retries operations that lacked some, answers early requests, and gives
   * back the rest.
   */
  settle(): boolean {
    if (this.#changed.size === 0 || !this.#blue.canOriginate) return false;
    const [changed, value, generated] = [this.#changed, this.#grantedFields, this.#drawnFields];
    this.#changed = new Set();
    this.isDue = false;
    this.#grantedFields = [];
    this.#drawnFields = new Map();
    for (const item of value) this.#shareGrant(item);
    this.waiting.retry(changed);
    for (const field of changed) this.#requestForWaiters(field);
    for (const request of this.#earlyRequests.takeForFields(changed, this.core.nowMs))
      this.#respond(request);
    for (const name of generated.values()) this.#redistributePool(name);
    return true;
  }

  onBlueApplied(operation: BlueOperation): void {
    this.onApplied(operation);
  }

  cancel(serial: number): Submission | undefined {
    return this.waiting.cancel(serial);
  }

  hasWaiter(id: OperationId): boolean {
    return this.waiting.hasOperation(id);
  }

  /** Sends requests again that were not answered, and ends operations that have waited too long. */
  tick(): void {
    const { nowMs, options } = this.core;
    this.#earlyRequests.evict(nowMs);
    this.waiting.retry(NO_FIELDS);
    for (const { waiter, shortfall } of this.waiting.takeTimedOut(nowMs)) {
      // Another copy of the operation may have decided it meanwhile.
      if (waiter.isOver?.() === true) waiter.onOver?.();
      else waiter.onTimeout(rightsUnreachableError(shortfall.needs[0], options.reachTimeoutMs));
    }
    for (const field of this.waiting.fields) this.#requestForWaiters(field);
  }

  /** Gives rights of this site, unless those that it gave last are still on their way. */
  receive(from: Origin, { requests, seenStamp }: RightsMessage): void {
    const { nowMs, options } = this.core;
    if (!this.#blue.canOriginate) return;
    for (const item of requests) {
      if (!isOnBoundedField(options.service.tables, item)) continue;
      if (item.target !== undefined) this.#noteWanted(formatFieldKey(item));
      this.#respond({
        from,
        request: item,
        seenStamp,
        untilMs: nowMs + options.resendAfterMs,
      });
    }
  }

  /**
   * Whether this site may take this amount by itself: its holding in the ledger, minus what it has
   * decided already.
   */
  mayTake(need: RightsNeed): boolean {
    return need.amount <= this.#available(need);
  }

  /** Returns the amount that red operations may take, as `state` shows it. */
  getPool(need: RightsNeed, state: StateReader): number {
    return readLedger(state, need).pool;
  }

  #getNeeds({ choice }: GeneratorOutcome): readonly RightsNeed[] {
    return sumTakes(this.core.options.service.tables, choice?.effects ?? []);
  }

  #available(name: BoundedName): number {
    const { state, options } = this.core;
    return (
      toExactNumber(readLedger(state.store, name).getHolding(options.site)) -
      this.#inFlight.getUsed(name)
    );
  }

  get #others(): readonly Origin[] {
    const { origins, site } = this.core.options;
    return origins.getOthers(site);
  }

  /** Returns the amount that members can still take. */
  #getLeft(ledger: Ledger): number {
    return getLeft(ledger, this.core.options.origins.closed);
  }

  /** Returns the share that each site would have if all had the same. */
  #computeEqualShare(ledger: Ledger): number {
    return (this.#getLeft(ledger) - Math.max(0, ledger.pool)) / (this.#others.length + 1);
  }

  /** Requests more in the background, once less than half of an equal share is left here. */
  #refill(name: BoundedName): void {
    const ledger = readLedger(this.core.state.store, name);
    const others = this.#others;
    const available = this.#available(name);
    const share = this.#computeEqualShare(ledger);
    if (available * 2 >= share) return;
    const lacking = Math.ceil(share - available);
    const turn = this.#takeTurn(name, 'later', others, giveHalf(ledger));
    if (turn !== undefined)
      this.#sendRequests(name, SPLIT_BY_MODE[turn](lacking, others, giveHalf(ledger)));
  }

  /** Rights have arrived here or in the pool: operations that lack more may request again. */
  #onReceived(effect: Effect): void {
    const { to } = effect.value as Transfer;
    if (to === RED || to === this.core.options.site) this.#requests.onAnswered(effect);
  }

  /**
   * Requests rights for waiting operations: from other sites as much as they can spare, or into the
   * pool if that is too little.
   */
  #requestForWaiters(field: string): void {
    const requested = this.waiting.getWanted(field);
    if (requested === undefined) return;
    const { name, amount, ofPool } = requested;
    const ledger = readLedger(this.core.state.store, name);
    const others = this.#others;
    if (ofPool > 0) return this.#gatherInPool(requested, ledger);
    const lacking = amount - this.#available(name);
    const spared = splitByRichest(
      lacking + Math.floor(this.#computeEqualShare(ledger)),
      others,
      giveHalf(ledger),
    );
    if (sumPortions(spared) < lacking) return this.#gatherInPool(requested, ledger);
    const turn = this.#takeTurn(name, 'here', others, giveHalf(ledger));
    if (turn === 'first') this.#sendRequests(name, spared, 'here');
    else if (turn === 'again') this.#gatherInPool(requested, ledger, turn);
  }

  /**
   * Gathers rights in the pool, from this site and from others, up to what waiting operations lack.
   */
  #gatherInPool(requested: WantedRights, ledger: Ledger, query?: RequestMode): void {
    const { name } = requested;
    const { nowMs } = this.core;
    const lacking =
      this.#getWantedFromPool(requested, ledger) -
      ledger.pool -
      this.#inFlight.getReturnedToPool(name);
    if (lacking <= 0 || (query === undefined && this.#requests.isOpen(name, 'pool', nowMs))) return;
    const own = Math.min(this.#available(name), lacking);
    if (own > 0) this.#transfer(name, [{ to: RED, amount: own }]);
    const others = this.#others;
    const turn =
      own === lacking
        ? undefined
        : (query ?? this.#takeTurn(name, 'pool', others, giveAll(ledger)));
    if (turn !== undefined)
      this.#sendRequests(name, SPLIT_BY_MODE[turn](lacking - own, others, giveAll(ledger)), 'pool');
  }

  /**
   * Returns which sites may be asked now. If no site shows rights, none is asked, since a share may
   * be in flight.
   */
  #takeTurn(
    name: BoundedName,
    target: RequestTarget,
    others: readonly Origin[],
    mayGive: MaxGrant<Origin>,
  ): RequestMode | undefined {
    if (!others.some((item) => mayGive(item) > 0)) return undefined;
    return this.#requests.takeTurn(name, target, this.core.nowMs);
  }

  /**
   * Returns the amount that the pool needs. Red operations behind one that waits will use the pool
   * too, and should not wait one after the other.
   */
  #getWantedFromPool({ name, amount, inRed }: WantedRights, ledger: Ledger): number {
    const inFlight = ledger.pool - readLedger(this.core.state.overlay, name).pool;
    return amount - inRed + Math.max(inRed, inFlight);
  }

  #sendRequests(
    name: BoundedName,
    portions: readonly Portion<Origin>[],
    target?: RightsRequest['target'],
  ): void {
    for (const { from, amount } of portions) {
      const seenStamp = this.core.state.stable[from] ?? 0;
      const requested = [{ ...toFieldName(name), amount, ...(target && { target }) }];
      const message = { kind: 'rights.request', requests: requested, seenStamp } as const;
      this.core.outputs.send(from, message);
    }
  }

  #respond(early: EarlyRequest): void {
    const { from, request, seenStamp } = early;
    const { nowMs } = this.core;
    const field = formatFieldKey(request);
    if (this.#answeredRequests.isOnItsWay(from, field, seenStamp, nowMs)) return;
    const value = this.#computeGrant(from, request);
    if (value === undefined) return this.#earlyRequests.add(early);
    const { vector, site } = this.#transfer(request, [value]);
    this.#answeredRequests.add(from, field, {
      stamp: vector[site] ?? 0,
      atMs: nowMs,
    });
  }

  /**
   * Grants half of what is here at most. If that is too little for a waiting operation, what it
   * lacks goes into the pool.
   */
  #computeGrant(from: Origin, { amount, target, ...name }: RightsRequest): Transfer | undefined {
    const available = this.#available(name);
    const half = Math.floor(available / 2);
    const isOfPool = target === 'pool' || (target === 'here' && half < amount);
    const value = Math.min(amount, isOfPool ? available : half);
    return value > 0 ? { to: isOfPool ? RED : from, amount: value } : undefined;
  }

  /**
   * A site that has used the pool returns the rest in equal shares, unless an operation waits for
   * it.
   */
  #redistributePool(name: BoundedName): void {
    this.#forgetWanted();
    const { state, options } = this.core;
    const ledger = readLedger(state.store, name);
    const field = formatFieldKey(name);
    if (readLedger(state.overlay, name).pool < ledger.pool) return;
    if (this.waiting.getWanted(field) !== undefined || this.#wantedBySites.has(field)) return;
    const { members: sites } = options.origins;
    const amount = Math.floor(toExactNumber(ledger.pool) / sites.length);
    if (amount === 0) return;
    const choice = createTransferChoice(
      'red',
      name,
      sites.map((to) => ({ to, amount })),
    );
    this.#red.proposeOwn(this.#nextId(), {
      reads: NO_READS,
      choice,
      reply: { value: null },
    });
  }

  #noteWanted(field: string): void {
    this.#forgetWanted();
    // The entry moves to the end, because entries are in the order of time.
    this.#wantedBySites.delete(field);
    this.#wantedBySites.set(field, this.core.nowMs);
  }

  /** Forgets requests of other sites that are so old that no operation waits for them any more. */
  #forgetWanted(): void {
    const { nowMs, options } = this.core;
    for (const [field, atMs] of this.#wantedBySites) {
      if (nowMs - atMs < options.reachTimeoutMs) return;
      this.#wantedBySites.delete(field);
    }
  }

  /** Gives other sites equal shares of an amount that was given here, before they request any. */
  #shareGrant({ amount, ...name }: RightsNeed): void {
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
    const choice = createTransferChoice('blue', name, transfers);
    return this.#blue.commit({
      id,
      hop: undefined,
      choice,
      reply: { value: null },
    });
  }

  #nextId(): OperationId {
    this.#transfers += 1;
    return formatOperationId(this.#client, this.#transfers);
  }
}

/** Creates the choice of a transfer, which a site makes by itself. */
function createTransferChoice(
  color: Color,
  name: BoundedName,
  transfers: readonly Transfer[],
): Choice {
  const effects = transfers.map((item) => createTransferEffect(name, item));
  return {
    shadow: RIGHTS_TRANSFER_SHADOW,
    color,
    args: undefined,
    effects,
    reply: undefined,
  };
}
