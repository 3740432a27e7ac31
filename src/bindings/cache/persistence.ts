/**
 * Reads what a cache's store keeps, then writes the changes of the cache behind its back: in order, one call at a time,
 * the last change of an entry only. What the store refuses is tried again.
 */
import { exponentialBackoff } from '../../correctable/backoff.ts';
import type { Clock, Timer } from '../../correctable/clock.ts';
import type { CorrectableError } from '../../correctable/errors.ts';
import { isRecord } from '../../correctable/given.ts';
import { isViewId } from './identity.ts';
import type { Change, FencesData } from './fences.ts';
import { ALL, ANY_UPDATE, Pending } from './pending.ts';
import type { Scope } from './scope.ts';
import { isLate, late, leftUnwritten, refused, STORE_WAIT_MS, type Call } from './store-errors.ts';
import { isEntry, type CacheConnection, type CacheEntry, type CacheStore, type Settle } from './store.ts';
import { countingOn, type Moment, type Noted, type TransactionLog } from './transaction-log.ts';
import { Ledger, LEDGER_ID, settle, withoutViews, type Batch, type Judge, type Written } from './transaction.ts';
import type { CachedView } from './view-cache.ts';

const backoff = exponentialBackoff({ firstMs: 1_000, maxMs: 30_000 });

/** What a cache's store is used with. */
export interface PersistenceOptions {
  readonly store: CacheStore;
  readonly clock: Clock;
  readonly judge: Judge;
  readonly marksMax: number;
  /** About as much is held of what the store has not taken yet of users who have left. */
  readonly bytesMax: number;
  /** Whether memory has a view under `id`. */
  readonly isKnown: (id: string) => boolean;
  /** Whether a view belongs to whoever is asking at present. */
  readonly isPresent: (id: string) => boolean;
  /** The store has not taken a view, and has taken what else was to be written. */
  readonly onRefused: (id: string, cause: unknown) => void;
  readonly onError: (error: unknown) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Another cache on the store has changed something. */
  readonly onNotice: (change: Change) => void;
  /** The cache's own moment; asked when a reading begins where nothing waits to be written, so that the store has it all. */
  readonly tick: () => number;
  /**
   * The store was read as of `asOf`, or as of before everything: with the views that nothing has changed since. Called before
   * anything is written.
   */
  readonly onRead: (stored: Loaded, asOf: number | undefined) => void;
}

/** What a store kept. */
export type Loaded = readonly (readonly [id: string, entry: CacheEntry])[];

/** What a cache tells the others on its store after each transaction. */
interface Notice {
  /** The number of the transaction. */
  readonly seq: number;
  readonly changes: readonly Change[];
}

export class Persistence {
  readonly #options: PersistenceOptions;
  readonly #count: ReturnType<typeof countingOn>;
  /** Nobody else's: decides whose views are whose in the store. */
  #page = newPage();
  readonly #hanging = new Set<Call>();
  /** Since when somebody waits for a call that has not ended. */
  readonly #waitedSinceMs = new Map<Call, number>();
  #connection: CacheConnection | undefined;
  /** As it was last read or written. */
  #ledger: Ledger;
  /** The last transaction heard of, or had. */
  #seen = 0;
  /** The store's last transactions as it was first read, and when that was: of what began before. */
  #opening: { readonly log: TransactionLog; readonly read: Moment } | undefined;
  /** Whether the memory has had what is stored: nothing is written before. */
  #isRead = false;
  #pending: Pending;
  /** What the last batch was refused with, if it was: one that is collected, on its way, or done. */
  #last: Promise<CorrectableError | undefined> = Promise.resolve(undefined);
  #isCollecting = false;
  /** One that has not begun. */
  #nextReading: Promise<void> | undefined;
  /** Of the calls of the store. */
  #queue: Promise<unknown> = Promise.resolve();
  /** Whether the last call of the store has failed. */
  #hasFailed = false;
  #isClosed = false;
  /** Of who clears or closes. */
  #turn: Promise<void> = Promise.resolve();
  #failures = 0;
  #retry: Timer | undefined;

  constructor(options: PersistenceOptions) {
    this.#options = options;
    this.#pending = new Pending(options.isKnown);
    this.#count = countingOn(options.store);
    this.#ledger = Ledger.of(undefined, options.marksMax);
    this.#connect();
  }

  /** What is known at present of the store's transactions: for an operation that begins. */
  note(): Noted {
    return { seq: this.#seen, ...(this.#opening === undefined && { at: this.#moment() }) };
  }

  /** What the pages on the store have changed, as far as this one knows. */
  get fences(): FencesData {
    return this.#ledger.fences.data;
  }

  /**
   * Reads what is stored, after the calls that are under way: once for all who ask until it begins.
   *
   * @throws whatever the store does; then it is read before the next writing
   */
  read(): Promise<void> {
    this.#nextReading ??= this.#inQueue(() => {
      this.#nextReading = undefined;
      return this.#read();
    });
    return this.#nextReading;
  }

  /** What was to be filed under `id` is not, after all. */
  retract(id: string): void {
    this.#pending.views.delete(id);
  }

  /** The memory is empty: it knows no more of what this page has written than of what others have. */
  forget(): void {
    this.#page = newPage();
    this.#dropUncompared();
    // What a store does not take is held for nobody who has left.
    if (this.#failures > 0 || this.#hanging.has('write')) this.#pending.empty(() => true);
    this.#pending.bound(this.#options.bytesMax);
    this.#isRead = false;
  }

  /** Files a view in the store, or removes it. */
  change(id: string, view: CachedView | undefined): void {
    this.#pending.file(id, view);
    // A store that refuses is tried again in its own time: each try looks at all that waits.
    if (view === undefined || this.#failures === 0) this.#collect();
  }

  /** What was read before of what has changed is not to be found any more, whoever wrote it. */
  fence(change: Change): void {
    this.#pending.add(change);
    this.#collect();
  }

  /**
   * Resolves when what changed until now is in the store.
   *
   * @throws CorrectableError `UNAVAILABLE` where it is not within `limitMs`, or at once where the store is known to hang
   */
  async landed(limitMs: number = STORE_WAIT_MS): Promise<void> {
    if (!this.#pending.isEmpty) this.#collect();
    const refusal = await this.within('write', this.#last, limitMs);
    if (refusal !== undefined) throw refusal;
  }

  /**
   * Fences `scope` and, where ids are chosen, removes those from the store, also what others have written.
   *
   * @throws CorrectableError `UNAVAILABLE` where the store could not
   */
  drop(scope: Scope, isChosen?: (id: string) => boolean): Promise<void> {
    return this.#inTurn(() => this.#drop({ kind: 'drop', scope }, isChosen));
  }

  /**
   * As `fence`, after `close()`.
   *
   * @throws CorrectableError `UNAVAILABLE` where the store could not
   */
  fenceLate(change: Change): Promise<void> {
    return this.#inTurn(() => this.#drop(change));
  }

  /** Writes what is left, once more where the store has refused it, and closes the store. */
  close(): Promise<void> {
    return this.#inTurn(() => this.#close());
  }

  async #drop(change: Change, isChosen?: (id: string) => boolean): Promise<void> {
    const wasClosed = this.#isClosed;
    this.#isClosed = false;
    this.#connect();
    try {
      this.fence(change);
      await this.landed();
      if (isChosen === undefined) return;
      for (const id of await this.#storedIds()) if (id !== LEDGER_ID && isChosen(id)) this.change(id, undefined);
      await this.landed();
    } finally {
      if (wasClosed) await this.#close();
    }
  }

  async #close(): Promise<void> {
    this.#dropUncompared();
    const isUnderWay = this.#pending.isEmpty;
    const { store, onError } = this.#options;
    try {
      await this.landed().catch((refusal: unknown) => {
        if (isUnderWay && !this.#pending.isEmpty) return this.landed();
        throw refusal;
      });
    } catch (error) {
      // What the store has refused was reported then.
      if (isLate(error)) onError(leftUnwritten(error));
    }
    this.#isClosed = true;
    this.#retry?.cancel();
    const connection = this.#connection;
    this.#connection = undefined;
    // Whoever signs out goes on to clear: that the store cannot be closed is no reason not to.
    this.#guarded(() => connection?.close());
    await this.within(
      'close',
      attempt(() => store.close()),
    ).catch(onError);
  }

  /**
   * Waits for the store.
   *
   * @throws CorrectableError `UNAVAILABLE` after `limitMs`; at once where such a call is known to hang
   */
  within<T>(call: Call, work: Promise<T>, limitMs: number = STORE_WAIT_MS): Promise<T> {
    if (this.#hanging.has(call)) {
      // Nobody else hears how it ends.
      work.catch(() => {});
      return Promise.reject(late(call));
    }
    return new Promise((resolve, reject) => {
      const { clock } = this.#options;
      const sinceMs = this.#waitedSinceMs.get(call) ?? clock.now();
      this.#waitedSinceMs.set(call, sinceMs);
      const onTime = (): void => {
        // Many may have waited for the same call, each for less.
        if (clock.now() - sinceMs >= STORE_WAIT_MS) this.#hanging.add(call);
        reject(late(call));
      };
      const timer = clock.setTimer(onTime, limitMs);
      const end = (): void => {
        timer.cancel();
        this.#hanging.delete(call);
        this.#waitedSinceMs.delete(call);
      };
      work.finally(end).then(resolve, reject);
    });
  }

  /** One after the other: nobody closes what another is clearing. */
  #inTurn(act: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(act);
    this.#turn = done.catch(() => {});
    return done;
  }

  #connect(): void {
    this.#connection ??= this.#guarded(() => this.#options.store.connect?.((notice) => this.#hear(notice)));
  }

  /** Where pages cannot tell each other, each goes on by itself. */
  #guarded<T>(act: () => T): T | undefined {
    try {
      return act();
    } catch (error) {
      this.#options.onError(error);
      return undefined;
    }
  }

  async #storedIds(): Promise<string[]> {
    const loading = this.#inQueue(() => this.#use((store) => store.load()));
    try {
      return Array.from(await this.within('load', loading), ([id]) => id);
    } catch (cause) {
      throw refused(cause);
    }
  }

  /** Nobody has compared these with what is stored, and nobody will. */
  #dropUncompared(): void {
    if (!this.#isRead) this.#pending.views.clear();
  }

  async #read(): Promise<void> {
    const { marksMax, onRead, tick } = this.#options;
    const asOf = this.#pending.isEmpty ? tick() : undefined;
    const stored = new Map(await this.#use((store) => store.load()));
    this.#learn(Ledger.of(stored.get(LEDGER_ID), marksMax));
    if (Ledger.isLost(stored)) this.#giveUp();
    this.#opening ??= { log: this.#ledger.log, read: this.#moment() };
    stored.delete(LEDGER_ID);
    onRead(
      [...stored].filter(([id, entry]) => this.#isSound(id, entry)),
      asOf,
    );
    this.#isRead = true;
  }

  /** Anybody may have updated everything since it was stored. */
  #giveUp(): void {
    this.#options.onError(new Error('cache: its store has lost what was changed when: dropped what it kept'));
    this.#ledger.fences.raise(ANY_UPDATE, 0);
    this.#pending.add(ALL, ANY_UPDATE);
    this.#collect();
  }

  /** Whether an entry may be shown; one that may never be is removed. */
  #isSound(id: string, entry: CacheEntry): boolean {
    const isView = isViewId(id);
    // What has another id was written by a version before.
    if (isView && !isEntry(entry))
      this.#options.onError(new Error('cache: dropped an entry of its store that is no view'));
    const isSound = isView && isEntry(entry) && !this.#ledger.isOutdated(id, entry);
    if (isSound) this.#seen = Math.max(this.#seen, entry.stamp?.seq ?? 0);
    else if (!this.#pending.views.has(id)) this.change(id, undefined);
    return isSound && !this.#pending.changes.includes(ALL);
  }

  #learn(ledger: Ledger): void {
    this.#ledger = ledger;
    this.#seen = Math.max(this.#seen, ledger.seq);
  }

  #moment(): Moment {
    const { now, clock } = this.#options;
    return { wallMs: now(), monotonicMs: clock.now(), counted: this.#count() };
  }

  /** An operation that began before the store was read came after what the store's clock says was earlier. */
  #endedBefore({ seq, at }: Noted): number {
    if (at === undefined || this.#opening === undefined) return seq;
    const { log, read } = this.#opening;
    return Math.max(seq, log.endedBefore(at, read));
  }

  #collect(): void {
    if (this.#isCollecting || this.#isClosed) return;
    this.#isCollecting = true;
    this.#retry?.cancel();
    this.#last = this.#inQueue(() => this.#writePending());
  }

  /** One call of the store after the other. */
  #inQueue<T>(call: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(call);
    this.#queue = done.catch(() => {});
    return done;
  }

  /** After a failed call, a store may acknowledge what it loses until it is opened again: it is closed before the next. */
  async #use<T>(call: (store: CacheStore) => Promise<T>): Promise<T> {
    const { store, onError } = this.#options;
    if (this.#hasFailed) await store.close();
    this.#hasFailed = false;
    try {
      return await call(store);
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    } finally {
      // The call has opened it again if the cache was closed before the call began.
      if (this.#isClosed) await attempt(() => store.close()).catch(onError);
    }
  }

  async #writePending(): Promise<CorrectableError | undefined> {
    let batch: Pending | undefined;
    try {
      // What is there has to be known where a store does not compare.
      if (!this.#isRead) await this.#read();
      const page = this.#page;
      batch = this.#takePending();
      await this.#writeBatch(batch, page);
    } catch (cause) {
      this.#options.onError(cause);
      this.#putBack(batch);
      return refused(cause);
    }
    this.#failures = 0;
    if (!this.#pending.isEmpty) this.#collect();
    return undefined;
  }

  /** All at once, or apart; of a store that has refused both, no more than the first part is asked: one try, not two. */
  async #writeBatch(batch: Pending, page: string): Promise<void> {
    if (this.#failures > 0) return this.#writeApart(batch, page);
    try {
      await this.#write(batch, page);
    } catch (cause) {
      if (![...batch.views.values()].some((view) => view !== undefined)) throw cause;
      await this.#writeApart(batch, page);
    }
  }

  #takePending(): Pending {
    const batch = this.#pending;
    this.#pending = new Pending(this.#options.isKnown);
    this.#isCollecting = false;
    return batch;
  }

  /**
   * It may be one view that a store does not take, and it would keep all others from it, and what has changed: that is written
   * first, and the views that the store has are removed.
   *
   * @throws what the store does, where it does not take that
   */
  async #writeApart(batch: Pending, page: string): Promise<void> {
    const written = await this.#write(batch, page, withoutViews);
    // That transaction has judged them: it counts as known from then on.
    const noted = { seq: this.#ledger.seq };
    const filed = written.flatMap(([id, entry]): [string, CachedView][] => {
      const view = batch.views.get(id);
      return entry === undefined || view === undefined ? [] : [[id, { ...view, noted }]];
    });
    await this.#writeEach(filed, page);
  }

  /** What the store refuses is halved until it is one view, which stays in memory alone. */
  async #writeEach(views: readonly (readonly [id: string, view: CachedView])[], page: string): Promise<void> {
    const [first] = views;
    // Whose they are has left, or the cache closes, meanwhile.
    if (first === undefined || this.#isClosed || this.#page !== page) return;
    try {
      await this.#write({ views: new Map(views), changes: [] }, page);
    } catch (cause) {
      if (views.length === 1) return this.#options.onRefused(first[0], cause);
      const half = views.length >> 1;
      await this.#writeEach(views.slice(0, half), page);
      await this.#writeEach(views.slice(half), page);
    }
  }

  /** Writes one transaction. Gives what it would have written, `withheld` or not. */
  async #write(batch: Batch, page: string, withheld: (written: Written) => Written = all): Promise<Written> {
    const { judge, marksMax, now } = this.#options;
    const endedBefore = (noted: Noted): number => this.#endedBefore(noted);
    const writer = { page, seen: this.#seen, endedBefore, marksMax, judge };
    let ledger = this.#ledger;
    let written: Written = [];
    const settleFound: Settle = (found) => {
      const settled = settle(batch, { ...writer, nowMs: now(), counted: this.#count() }, found);
      ({ ledger, written } = settled);
      return withheld(written);
    };
    const changes = settleFound(new Map([[LEDGER_ID, ledger.toEntry()]]));
    await this.#use((store) => store.write(changes, settleFound));
    this.#learn(ledger);
    const notice: Notice = { seq: ledger.seq, changes: batch.changes };
    this.#guarded(() => this.#connection?.tell(notice));
    return written;
  }

  /** What has changed since counts. */
  #putBack(batch: Pending | undefined): void {
    if (batch === undefined) this.#isCollecting = false;
    else this.#pending.putBack(batch);
    this.#pending.empty((id) => !this.#options.isPresent(id));
    this.#failures += 1;
    this.#retry?.cancel();
    this.#retry = this.#options.clock.setTimer(
      () => this.#collect(),
      backoff.delayMs(this.#failures, Math.random) as number,
    );
    this.#retry.hold?.(false);
  }

  #hear(notice: unknown): void {
    if (!isNotice(notice)) return;
    this.#seen = Math.max(this.#seen, notice.seq);
    for (const change of notice.changes) this.#options.onNotice(change);
  }
}

const newPage = (): string => `${Math.random().toString(36)}${Math.random().toString(36)}`;

const all = (written: Written): Written => written;

function isNotice(heard: unknown): heard is Notice {
  if (!isRecord(heard)) return false;
  const { seq, changes } = heard;
  return typeof seq === 'number' && Array.isArray(changes) && changes.every(isChange);
}

function isChange(change: unknown): change is Change {
  if (!isRecord(change)) return false;
  const { kind, scope, principal } = change;
  if (principal !== undefined && typeof principal !== 'string') return false;
  return (kind === 'update' || kind === 'drop') && (scope === undefined || Array.isArray(scope));
}

/** Returns a promise that rejects with what `work` throws. */
export async function attempt<T>(work: () => Promise<T>): Promise<T> {
  return await work();
}
