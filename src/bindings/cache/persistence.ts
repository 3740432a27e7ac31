/**
 * Reads what a cache's store keeps, then writes the changes of the cache behind its back: in order, one call at a time,
 * the last change of an entry only. What the store refuses is tried again.
 */
import { exponentialBackoff } from '../../correctable/backoff.ts';
import type { Clock, Timer } from '../../correctable/clock.ts';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import { isRecord } from '../../correctable/given.ts';
import { isViewId } from './identity.ts';
import type { Change, FencesData } from './fences.ts';
import { marksOf, type Scope } from './scope.ts';
import { isEntry, type CacheConnection, type CacheEntry, type CacheStore, type Settle } from './store.ts';
import { countingOn, type Moment, type Noted, type TransactionLog } from './transaction-log.ts';
import { Ledger, LEDGER_ID, settle, type Batch, type Judge } from './transaction.ts';
import type { CachedView } from './view-cache.ts';

/** For how long anybody waits for a store, in milliseconds. */
export const STORE_WAIT_MS = 1_000;

/** More changes than this that the store does not take are given up: it is told that all may have changed. */
const PENDING_MAX = 10_000;

const backoff = exponentialBackoff({ firstMs: 1_000, maxMs: 30_000 });

/** What a cache's store is used with. */
export interface PersistenceOptions {
  readonly store: CacheStore;
  readonly clock: Clock;
  readonly judge: Judge;
  readonly marksMax: number;
  /** Whether memory has a view under `id`. */
  readonly isKnown: (id: string) => boolean;
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

/** What a cache tells the others on its store after each transaction. */
interface Notice {
  readonly seq: number;
  readonly changes: readonly Change[];
}

/** What a store may hang at. */
type Call = 'load' | 'ready' | 'write' | 'close';

/** A batch that can still grow. */
interface Changes extends Batch {
  readonly views: Map<string, CachedView | undefined>;
  changes: Change[];
}

/** What a store kept. */
export type Loaded = readonly (readonly [id: string, entry: CacheEntry])[];

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
  #pending = noChanges();
  /** What the last batch was refused with, if it was: one that is collected, on its way, or done. */
  #last: Promise<CorrectableError | undefined> = Promise.resolve(undefined);
  #isCollecting = false;
  /** Of the calls of the store. */
  #queue: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** Of who clears or closes. */
  #turn: Promise<void> = Promise.resolve();
  #failures = 0;
  #retry: Timer | undefined;

  constructor(options: PersistenceOptions) {
    this.#options = options;
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
   * Reads what is stored, after the calls that are under way.
   *
   * @throws whatever the store does; then it is read before the next writing
   */
  read(): Promise<void> {
    return this.#inQueue(() => this.#read());
  }

  /** What was to be filed under `id` is not, after all. */
  retract(id: string): void {
    this.#pending.views.delete(id);
  }

  /** The memory is empty: it knows no more of what this page has written than of what others have. */
  forget(): void {
    this.#page = newPage();
    this.#dropUncompared();
    this.#isRead = false;
  }

  /** Files a view in the store, or removes it. */
  change(id: string, view: CachedView | undefined): void {
    const { views, changes } = this.#pending;
    views.set(id, view);
    if (views.size > PENDING_MAX) this.#pending = { views: new Map(), changes: [...changes, ALL] };
    this.#collect();
  }

  /** What was read before of what has changed is not to be found any more, whoever wrote it. */
  fence(change: Change): void {
    const { changes, views } = this.#pending;
    this.#withdraw(views, change);
    changes.push(change);
    if (changes.length > PENDING_MAX) this.#pending.changes = [ALL, ...authorsOf(changes)];
    this.#collect();
  }

  /**
   * Resolves when what changed until now is in the store.
   *
   * @throws CorrectableError `UNAVAILABLE` where it is not within `limitMs`, or at once where the store is known to hang
   */
  async landed(limitMs: number = STORE_WAIT_MS): Promise<void> {
    if (isPending(this.#pending)) this.#collect();
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
    const isUnderWay = !isPending(this.#pending);
    const { store, onError } = this.#options;
    try {
      await this.landed().catch((refusal: unknown) => {
        if (isUnderWay && isPending(this.#pending)) return this.landed();
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
    const loading = this.#inQueue(() => this.#options.store.load());
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
    const { store, marksMax, onRead, tick } = this.#options;
    const asOf = isPending(this.#pending) ? undefined : tick();
    const stored = new Map(await store.load());
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
    this.#pending.changes.push(ALL, ANY_UPDATE);
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

  async #writePending(): Promise<CorrectableError | undefined> {
    let batch: Changes | undefined;
    try {
      // What is there has to be known where a store does not compare.
      if (!this.#isRead) await this.#read();
      batch = this.#takePending();
      await this.#write(batch);
      this.#failures = 0;
      return undefined;
    } catch (cause) {
      this.#options.onError(cause);
      if (batch === undefined) this.#isCollecting = false;
      this.#putBack(batch ?? noChanges(), isNotCloneable(cause));
      return refused(cause);
    }
  }

  #takePending(): Changes {
    const batch = this.#pending;
    this.#pending = noChanges();
    this.#isCollecting = false;
    return batch;
  }

  async #write(batch: Changes): Promise<void> {
    const { store, judge, marksMax, now } = this.#options;
    const endedBefore = (noted: Noted): number => this.#endedBefore(noted);
    const writer = { page: this.#page, seen: this.#seen, endedBefore, marksMax, judge };
    let ledger = this.#ledger;
    const settleFound: Settle = (found) => {
      const settled = settle(batch, { ...writer, nowMs: now(), counted: this.#count() }, found);
      ledger = settled.ledger;
      return settled.written;
    };
    await store.write(settleFound(new Map([[LEDGER_ID, ledger.toEntry()]])), settleFound);
    this.#learn(ledger);
    const notice: Notice = { seq: ledger.seq, changes: batch.changes };
    this.#guarded(() => this.#connection?.tell(notice));
  }

  /** What a change reaches is not to be filed in the same transaction as if it came after it. */
  #withdraw(views: Map<string, CachedView | undefined>, { scope }: Change): void {
    for (const [id, view] of views) {
      // What memory has had it has taken away itself, and has what came after; of a former principal it has nothing.
      if (view === undefined || this.#options.isKnown(id)) continue;
      if (reaches(scope, marksOf(id, view.entry.touches))) views.set(id, undefined);
    }
  }

  /** What has changed since counts. */
  #putBack({ views, changes }: Changes, isPoisoned: boolean): void {
    // One view that cannot be stored would keep all others from it.
    const again = new Map(isPoisoned ? Array.from(views.keys(), (id) => [id, undefined] as const) : views);
    const since = this.#pending;
    for (const change of since.changes) this.#withdraw(again, change);
    this.#pending = { views: new Map([...again, ...since.views]), changes: [...changes, ...since.changes] };
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

/** Nothing tells any more what has changed. */
const ALL: Change = { kind: 'drop', scope: undefined };

/** Nor by whom. */
const ANY_UPDATE: Change = { kind: 'update', scope: undefined };

/** Whoever has updated something may have updated everything. */
function authorsOf(changes: readonly Change[]): Change[] {
  const updates = changes.filter(({ kind }) => kind === 'update');
  const authors = new Set(updates.map(({ principal }) => principal));
  return Array.from(authors, (principal) => ({ ...ANY_UPDATE, principal }));
}

const noChanges = (): Changes => ({ views: new Map(), changes: [] });

function isPending({ views, changes }: Changes): boolean {
  return views.size > 0 || changes.length > 0;
}

function reaches(scope: Scope, marks: readonly string[]): boolean {
  return scope === undefined || marks.some((mark) => scope.includes(mark));
}

function late(call: Call): CorrectableError {
  const cause = new CorrectableError('TIMEOUT', `the store has not ended '${call}' within ${STORE_WAIT_MS} ms`);
  return new CorrectableError('UNAVAILABLE', 'cache: its store does not answer; the cache goes on in memory', {
    cause,
  });
}

/** What a cache closes over: an update is among it, perhaps, so that a later page shows what was before. */
function leftUnwritten(cause: unknown): CorrectableError {
  const message = 'cache: closed before its store has taken what was changed last; it may still take it';
  return new CorrectableError('UNAVAILABLE', message, { cause });
}

/** Whether an error says that a store has not answered, rather than what it has answered. */
export function isLate(error: unknown): boolean {
  return error instanceof CorrectableError && isCorrectableError(error.cause, 'TIMEOUT');
}

function refused(cause?: unknown): CorrectableError {
  const message = 'cache: its store has not taken what was changed: try again, or delete the store';
  return new CorrectableError('UNAVAILABLE', message, { cause });
}

/** What a store throws is what its promise is rejected with. */
async function attempt<T>(work: () => Promise<T>): Promise<T> {
  return await work();
}

function isNotCloneable(error: unknown): boolean {
  return isRecord(error) && error['name'] === 'DataCloneError';
}

function isNotice(notice: unknown): notice is Notice {
  if (!isRecord(notice)) return false;
  const { seq, changes } = notice;
  return typeof seq === 'number' && Array.isArray(changes) && changes.every(isChange);
}

function isChange(change: unknown): change is Change {
  if (!isRecord(change)) return false;
  const { kind, scope, principal } = change;
  if (principal !== undefined && typeof principal !== 'string') return false;
  return (kind === 'update' || kind === 'drop') && (scope === undefined || Array.isArray(scope));
}
