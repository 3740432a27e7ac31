/**
 * What pages keep between them: one durable store, whose calls the schedule lets happen, and the
 * notices of one to another.
 */
import type { CacheEntry, CacheStore } from '../../../src/bindings/cache/cache-store.ts';

type Entries = ReadonlyMap<string, CacheEntry>;

/** A page that uses the store and is told what happens there. */
export interface DiskUser {
  readonly tab: number;
  /**
   * Whether the page was closed. Its pending calls may still take effect, but their results are
   * ignored.
   */
  readonly isGone: boolean;
  /** The content of the store was read for this page. */
  loaded(): void;
  /** A transaction of this page has changed the content of the store. */
  committed(before: Entries, after: Entries): void;
  /** The page starts a call. The returned function is called when the call has succeeded. */
  asks(description: 'load' | 'write'): () => void;
  /** The page has received another notice. */
  heard(): void;
}

export type DiskMode = 'prompt' | 'by-hand' | 'failing' | 'throwing';

/** How a waiting call ends. */
export type Landing = 'apply' | 'finish' | 'fail' | 'fail after all';

interface Call {
  readonly user: DiskUser;
  readonly what: 'load' | 'write';
  readonly run: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly ended: () => void;
  /** The result of the call, once it was applied. */
  applied: { readonly result: unknown } | undefined;
}

interface Inbox {
  readonly user: DiskUser;
  readonly hear: (notice: unknown) => void;
  readonly waiting: unknown[];
}

export class Disk {
  entries: Entries = new Map();
  readonly waiting: Call[] = [];
  /** Whether notices wait to be delivered by the schedule. */
  holdsNotices = false;
  readonly #modes = new Map<number, DiskMode>();
  readonly #inboxes: Inbox[] = [];
  #transactions = 0;

  /** Sets how the next calls of a tab are handled. */
  setMode(tab: number, mode: DiskMode): void {
    this.#modes.set(tab, mode);
  }

  /**
   * Creates the store for a page. A simple store does not know other pages, and keeps only what
   * JSON can represent.
   */
  storeOf(user: DiskUser, isSimple: boolean): CacheStore {
    if (isSimple) {
      return {
        load: () => this.#call(user, 'load', () => asJson(this.#load(user))),
        write: (changes) => this.#call(user, 'write', () => this.#commit(user, changes)),
        close: async () => {},
      };
    }
    return {
      load: () => this.#call(user, 'load', () => this.#load(user)),
      write: (changes, settle) =>
        this.#call(user, 'write', () => {
          const found = new Map(
            changes.flatMap(([id]) => {
              const entry = this.entries.get(id);
              return entry === undefined ? [] : [[id, structuredClone(entry)] as const];
            }),
          );
          // A transaction that is tried again asks again.
          if (this.#transactions++ % 3 === 0) settle?.(structuredClone(found));
          this.#commit(user, settle?.(found) ?? changes);
        }),
      subscribe: (hear) => {
        const inbox: Inbox = { user, hear, waiting: [] };
        this.#inboxes.push(inbox);
        return {
          publish: (notice) => this.#tell(inbox, structuredClone(notice)),
          close: () => this.#leave(inbox),
        };
      },
      close: async () => {},
    };
  }

  /** Decides how a waiting call ends. */
  land(call: Call, landing: Landing): void {
    if (landing !== 'fail' && call.applied === undefined) call.applied = { result: call.run() };
    if (landing === 'apply') return;
    this.waiting.splice(this.waiting.indexOf(call), 1);
    if (call.user.isGone) return;
    if (landing === 'finish') this.#finish(call, call.applied!.result);
    else call.reject(new DOMException('the store refused', 'QuotaExceededError'));
  }

  /** A page is closed. Of its pending writes the first `landed` ones take effect. */
  abandon(user: DiskUser, landed: number): void {
    const own = this.waiting.filter((call) => call.user === user);
    for (const [at, call] of own.entries()) {
      if (call.what === 'write' && at < landed) this.land(call, 'finish');
      else this.waiting.splice(this.waiting.indexOf(call), 1);
    }
    for (const inbox of this.#inboxes.filter((item) => item.user === user)) this.#leave(inbox);
  }

  /** Delivers the next notice of a page, or all of them. */
  deliver(user: DiskUser, all: boolean): void {
    for (const inbox of this.#inboxes.filter((item) => item.user === user)) {
      for (const notice of inbox.waiting.splice(0, all ? Infinity : 1)) {
        inbox.hear(notice);
        user.heard();
      }
    }
  }

  /** Returns how many notices wait for a page. */
  noticesFor(user: DiskUser): number {
    return this.#inboxes
      .filter((item) => item.user === user)
      .reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  #modeOf(tab: number): DiskMode {
    return this.#modes.get(tab) ?? 'prompt';
  }

  #call<T>(user: DiskUser, what: Call['what'], run: () => T): Promise<T> {
    const mode = this.#modeOf(user.tab);
    if (user.isGone) return new Promise<T>(() => {});
    if (mode === 'throwing') throw new DOMException('the store is gone', 'InvalidStateError');
    return new Promise<T>((resolveT, reject) => {
      const ended = user.asks(what);
      const resolve = resolveT as Call['resolve'];
      const call: Call = { user, what, run, resolve, reject, ended, applied: undefined };
      this.waiting.push(call);
      if (mode === 'by-hand') return;
      queueMicrotask(() => {
        if (this.waiting.includes(call)) this.land(call, mode === 'failing' ? 'fail' : 'finish');
      });
    });
  }

  #finish({ resolve, ended }: Call, result: unknown): void {
    resolve(result);
    ended();
  }

  #load(user: DiskUser): [string, CacheEntry][] {
    user.loaded();
    return structuredClone([...this.entries]);
  }

  #commit(user: DiskUser, changes: readonly (readonly [string, CacheEntry | undefined])[]): void {
    const before = this.entries;
    const after = new Map(before);
    for (const [id, entry] of structuredClone(changes)) {
      after.delete(id);
      if (entry !== undefined) after.set(id, entry);
    }
    this.entries = after;
    user.committed(before, after);
  }

  #tell(from: Inbox, notice: unknown): void {
    if (from.user.isGone) return;
    for (const inbox of this.#inboxes) {
      if (inbox === from) continue;
      inbox.waiting.push(structuredClone(notice));
      if (!this.holdsNotices) queueMicrotask(() => this.deliver(inbox.user, false));
    }
  }

  #leave(inbox: Inbox): void {
    const index = this.#inboxes.indexOf(inbox);
    if (index >= 0) this.#inboxes.splice(index, 1);
  }
}

function asJson(entries: [string, CacheEntry][]): [string, CacheEntry][] {
  return JSON.parse(JSON.stringify(entries)) as [string, CacheEntry][];
}
