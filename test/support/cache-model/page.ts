/**
 * One page of a tab: a client of the store with a cache in front, and the results that it received.
 */
import { cached, type CachedBinding } from '../../../src/bindings/cache/index.ts';
import { createClient, type Client, type Session } from '../../../src/correctable/client/client.ts';
import type { Operation } from '../../../src/correctable/operation.ts';
import type { View } from '../../../src/correctable/view.ts';
import type { Levels } from '../../../src/correctable/level-types.ts';
import type { Disk, DiskUser } from './disk.ts';
import type { CacheEntry } from '../../../src/bindings/cache/cache-store.ts';
import { SessionRecord, type Clearing, type CacheChecker, type PageRecord } from './checker.ts';
import {
  HINTS,
  READS,
  updateKind,
  updateOf,
  type ReadKind,
  type Shown,
  type UpdateName,
} from './operations.ts';
import type { LEVELS, Origin, Submission, Submitter } from './origin.ts';
import type { ReadStep, UpdateStep, Wanted } from './schedule.ts';
import type { CacheOptions } from './options.ts';

type StoreLevels = typeof LEVELS;
type ShopLevels = readonly ['cache', ...StoreLevels];

/**
 * How long the cache may wait for its store before a caller gets its result, including late timers.
 */
const STORE_WAIT_MS = 1_000;

const LEVELS_OF: Record<Wanted, readonly [ShopLevels[number], ...ShopLevels[number][]]> = {
  all: ['cache', 'tentative', 'weak', 'strong'],
  strong: ['strong'],
  weak: ['weak'],
  'cache and weak': ['cache', 'weak'],
  look: ['cache'],
};

/** The error of the application's function if the signed-in user is unknown. */
const SIGNED_OUT = new Error('signed out');

/** An update, and its idempotency key if it has one. */
export interface KeyedUpdate {
  readonly update: UpdateName;
  readonly operation: Operation;
  readonly idempotencyKey?: string;
}

/** The environment of a page. */
export interface Surroundings {
  readonly setting: CacheOptions;
  readonly origin: Origin;
  readonly disk: Disk;
  readonly judge: CacheChecker;
  nowMs(): number;
  /** The time of the machine's clock. */
  wallMs(): number;
  newNumber(): number;
  /** By user: the last update with a key. */
  readonly keyed: Map<string, KeyedUpdate>;
  /** Returns the records of the open pages. */
  records(): readonly PageRecord[];
  saw(description: string): void;
}

/** A result for which the page waits. */
export interface Waiting {
  readonly what: string;
  isOver: boolean;
}

export class Page implements Submitter, DiskUser {
  readonly tab: number;
  readonly record: PageRecord;
  readonly binding: CachedBinding<StoreLevels>;
  readonly waiting: Waiting[] = [];
  principal: string;
  /** Whether the function that reads the principal throws. */
  isUnknown = false;
  isGone = false;
  /** The last submission that reached the store behind. */
  submitted: Submission | undefined;
  session: { readonly key: Session; readonly record: SessionRecord } | undefined;
  isClosed = false;
  readonly #client: Client<ShopLevels>;
  /** The user of the last request. */
  #asked: string | undefined;
  #unheard: { readonly clearing: Clearing; notices: number }[] = [];
  readonly #around: Surroundings;

  constructor(tab: number, principal: string, record: PageRecord, around: Surroundings) {
    this.tab = tab;
    this.principal = principal;
    this.record = record;
    this.#around = around;
    const { setting, disk, origin } = around;
    record.openedAt = around.judge.tick();
    this.binding = cached(origin.bindingOf(this), {
      ...HINTS,
      principal: () => this.#whoAsks(),
      committedLevels: setting.isWeakCommitted ? ['weak', 'strong'] : ['strong'],
      onMiss: setting.onMiss,
      maxEntries: setting.maxEntries,
      now: () => around.wallMs(),
      onError: (error) => {
        if (error !== SIGNED_OUT) this.#storeFailed();
      },
      ...(setting.ttlMs !== undefined && { ttlMs: setting.ttlMs }),
      ...(setting.store !== 'none' && { store: disk.storeOf(this, setting.store === 'simple') }),
    });
    this.#client = createClient(this.binding, { onUncaught: () => {} });
    if (setting.hasSessions) this.openSession(undefined, new SessionRecord());
    void this.binding.ready().then(() => (record.loadedAt = around.judge.tick()));
  }

  /** Returns the signed-in user, or `'unknown'`. */
  get who(): string {
    return this.isUnknown ? 'unknown' : this.principal;
  }

  signIn(name: string): void {
    this.isUnknown = name === 'unknown';
    if (!this.isUnknown) this.principal = name;
    this.session = undefined;
    this.#around.judge.signedIn(this.record);
  }

  /** Executes a read. The schedule decides how the store behind the cache answers. */
  read({
    read: index,
    wants,
    inSession,
  }: Pick<ReadStep, 'read' | 'wants' | 'inSession'>): Submission | undefined {
    const read = READS[index]!;
    const began = this.#around.judge.tick();
    const principal = this.who;
    const session = inSession ? this.session : undefined;
    const [result, submission] = this.#submit(() =>
      this.#client.invoke(read.operation, {
        levels: LEVELS_OF[wants],
        session: session?.key,
        timeoutMs: Infinity,
      }),
    );
    const judge = (view: View<Shown, Levels, string>): void => {
      if (this.isGone) return;
      this.#around.judge.shown({
        ...view,
        page: this.record,
        principal,
        read,
        session: session?.record,
        began,
      });
    };
    // Check a view that is available synchronously at once, and not again when it is delivered.
    const first = result.latest;
    if (first !== undefined) judge(first);
    const waiting = this.#wait(`read of ${read.name}`, submission);
    result.subscribe({
      next: (view) => {
        if (view !== first) judge(view);
        if (view.final) this.#onEnd(waiting, submission, 0);
      },
      error: () => this.#failed(waiting, submission),
    });
    return submission;
  }

  update(step: Pick<UpdateStep, 'update' | 'wants' | 'inSession' | 'key'>): Submission | undefined {
    const { update, operation, idempotencyKey } = this.#chooseUpdate(step);
    const session = step.inSession ? this.session : undefined;
    const [result, submission] = this.#submit(() =>
      this.#client.invoke(operation, {
        levels: LEVELS_OF[step.wants],
        session: session?.key,
        timeoutMs: Infinity,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      }),
    );
    const waiting = this.#wait(update, submission);
    result.subscribe({
      next: ({ final, level }) => {
        if (!final) return;
        this.#onEnd(waiting, submission, STORE_WAIT_MS);
        if (submission?.isReplay === true) this.#around.saw('a replayed write');
        if (this.isGone || submission === undefined) return;
        if (level === 'strong')
          this.#around.judge.onCommitted(this.record, submission, session?.record);
        else this.#around.judge.onFinalEarly(this.record, submission);
        // A caller that gets its final view finds the cache coherent with it at once.
        if (submission.principal === this.who) this.#lookAfter(update);
      },
      error: () => this.#failed(waiting, submission),
    });
    return submission;
  }

  /** Returns a new update, or repeats the last update of the user that has a key. */
  #chooseUpdate({ update, key }: Pick<UpdateStep, 'update' | 'key'>): KeyedUpdate {
    const { keyed, newNumber } = this.#around;
    const last = key === 'repeated' ? keyed.get(this.principal) : undefined;
    if (last !== undefined) return last;
    const kind = updateKind(update);
    const numbers = kind.objects.map(() => newNumber());
    const created = { update, operation: updateOf(kind, numbers, this.principal) };
    if (key === 'none') return created;
    const withKey = { ...created, idempotencyKey: `key ${newNumber()}` };
    keyed.set(this.principal, withKey);
    return withKey;
  }

  /** Waits for a call of the binding. Calls `done` if its promise is fulfilled. */
  await(description: string, promise: Promise<void>, done: () => void): void {
    const waiting = this.#wait(description, undefined);
    promise.then(
      () => {
        waiting.isOver = true;
        this.#around.saw(`${description}, done`);
        if (!this.isGone) done();
      },
      () => {
        waiting.isOver = true;
        this.#around.saw(`${description}, refused`);
      },
    );
  }

  began(submission: Submission): void {
    submission.began = this.#around.judge.tick();
    this.submitted = submission;
  }

  answers(submission: Submission, level: string, shown: Shown | undefined): void {
    const { nowMs, judge } = this.#around;
    if (level === 'strong') submission.finalAtMs = nowMs();
    judge.gives(this.record, submission, shown);
  }

  answersEarly(submission: Submission): void {
    submission.earlyAt = this.#around.judge.updates(submission);
  }

  threw(error: unknown): void {
    this.#around.judge.wrong('P9', `threw back into the store behind: ${String(error)}`);
  }

  loaded(): void {
    this.#around.judge.loads(this.record);
  }

  committed(before: ReadonlyMap<string, CacheEntry>, after: ReadonlyMap<string, CacheEntry>): void {
    const { judge, records } = this.#around;
    judge.committed(this.record, before, after, records());
  }

  /**
   * The transaction contains all changes until now, including those that the store rejected before.
   */
  asks(description: 'load' | 'write'): () => void {
    const own = this.record.own.copy();
    if (description === 'write' && !this.record.hasRead)
      this.#around.judge.wrong('P4', 'wrote what it had not read');
    return () => {
      if (description === 'load') this.record.hasRead = true;
      else this.#around.judge.wrote(this.record, own);
    };
  }

  heard(): void {
    for (const item of this.#unheard) item.notices -= 1;
    for (const { clearing } of this.#unheard.filter(({ notices }) => notices <= 0)) {
      this.#around.judge.hasCleared(this.record, clearing);
    }
    this.#unheard = this.#unheard.filter(({ notices }) => notices > 0);
    this.#around.judge.heard(this.record);
  }

  /** A clearing was confirmed: it holds here once the page has got all notices sent until now. */
  cleared(clearing: Clearing): void {
    const { setting, disk } = this.#around;
    if (setting.store === 'none') return;
    const notices = disk.noticesFor(this);
    if (notices === 0) this.#around.judge.hasCleared(this.record, clearing);
    else this.#unheard.push({ clearing, notices });
  }

  openSession(tokens: readonly string[] | undefined, record: SessionRecord): void {
    if (!this.isClosed) this.session = { key: this.#client.session({ tokens }), record };
  }

  close(): Promise<void> {
    this.isClosed = true;
    this.session = undefined;
    return this.#client.close();
  }

  #whoAsks(): string {
    if (this.isUnknown) throw SIGNED_OUT;
    return this.principal;
  }

  #lookAfter(update: UpdateName): void {
    const { objects, decides } = updateKind(update);
    const isTouched = (read: ReadKind): boolean =>
      read.objects.some((object) => objects.includes(object));
    const looked = decides ?? READS.find(isTouched)!;
    this.read({ read: READS.indexOf(looked), wants: 'look', inSession: false });
  }

  #submit<T>(invoke: () => T): [T, Submission | undefined] {
    this.submitted = undefined;
    const result = invoke();
    const { submitted } = this;
    this.#checkEmptied();
    return [result, submitted];
  }

  /** Checks that another user finds nothing in memory (CACHE-5). */
  #checkEmptied(): void {
    const { setting, judge } = this.#around;
    const { entries } = this.binding.size;
    const isAnother = this.#asked !== undefined && this.#asked !== this.who;
    this.#asked = this.who;
    if (isAnother && setting.store === 'none' && entries > 0)
      judge.wrong('P5', `${entries} views are left in memory of who was here before`);
  }

  #wait(description: string, submission: Submission | undefined): Waiting {
    const waiting = { what: description, isOver: false, submission };
    this.waiting.push(waiting);
    return waiting;
  }

  /** Checks that a failure of the cache's store never fails an operation (CACHE-9). */
  #onEnd(waiting: Waiting, submission: Submission | undefined, mostMs: number): void {
    waiting.isOver = true;
    const { nowMs, judge } = this.#around;
    const lateMs = submission?.finalAtMs === undefined ? 0 : nowMs() - submission.finalAtMs;
    if (!this.isGone && lateMs > mostMs)
      judge.wrong('P9', `${waiting.what} was called ${lateMs} ms after its answer`);
  }

  #failed(waiting: Waiting, submission: Submission | undefined): void {
    waiting.isOver = true;
    this.#around.saw(submission?.isUpdate ? 'a write failed' : 'a read failed');
    const isAnswered = submission?.finalAtMs !== undefined;
    if (isAnswered) this.#around.judge.wrong('P9', `${waiting.what} failed though it was answered`);
  }

  #storeFailed(): void {
    this.#around.saw('the store refused');
    this.record.isSuspect = true;
    this.record.failedAt = this.#around.judge.tick();
  }
}
