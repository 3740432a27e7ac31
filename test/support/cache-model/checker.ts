/**
 * What a cache may show, known from the truth alone: the history of the store behind, and what each
 * page got of it, and when. Knows nothing of how the cache decides. CACHE-1–CACHE-6 are the
 * promises of docs/spec/cache.md.
 */
import type { CacheEntry } from '../../../src/bindings/cache/cache-store.ts';
import type { History } from './history.ts';
import {
  OBJECTS,
  READS,
  SECRET,
  type ObjectName,
  type ReadKind,
  type Shown,
} from './operations.ts';
import { GUESSED, type Submission } from './origin.ts';
import type { CacheOptions } from './options.ts';
import type { Coverage } from '../outcomes/coverage.ts';

/**
 * By object, or by a name made with it: the state of the history below which nothing may be shown.
 */
class Floors {
  readonly #at = new Map<string, number>();

  raise(name: string, at: number): void {
    this.#at.set(name, Math.max(this.of(name), at));
  }

  of(name: string): number {
    return this.#at.get(name) ?? 0;
  }

  forget(isChosen: (name: string) => boolean): void {
    for (const name of this.#at.keys()) if (isChosen(name)) this.#at.delete(name);
  }

  raiseAll(floors: Floors): void {
    for (const [name, at] of floors.#at) this.raise(name, at);
  }

  copy(): Floors {
    const copied = new Floors();
    copied.raiseAll(this);
    return copied;
  }
}

/** Records what a session has read and written. */
export class SessionRecord {
  readonly floors: Floors;

  constructor(continued?: SessionRecord) {
    this.floors = continued?.floors.copy() ?? new Floors();
  }
}

/** A clearing that was requested, and the views that it covers. */
export interface Clearing {
  /** The principal whose views were cleared; `undefined` for all principals. */
  readonly principal: string | undefined;
  /** The object whose views were cleared; `undefined` for all objects. */
  readonly object: ObjectName | undefined;
  /** When the clearing was requested. No view of an operation that began earlier may be shown. */
  readonly askedAt: number;
}

/** Records what a page has received. */
export class PageRecord {
  readonly tab: number;
  /** CACHE-1: by principal and object. */
  readonly own = new Floors();
  /** What of that holds after a reload, too. */
  readonly ownKept: Floors;
  /** What of that came from the pages before, by way of the store. */
  readonly inherited: Floors;
  /** CACHE-2: by principal, read and object. */
  readonly read = new Floors();
  /** CACHE-4: by read, principal and object: what this tab had stored before it was loaded. */
  stored = new Floors();
  readonly cleared: Clearing[] = [];
  /** Writes that were final at a weaker level. */
  readonly early: Clearing[] = [];
  /** By what was shown: when this page was last given it, in milliseconds. */
  readonly givenAtMs = new Map<string, number>();
  openedAt = 0;
  /** The first moment at which the content of the store was available. */
  loadedAt = Infinity;
  /** Whether the store has failed and has not recovered since. */
  isSuspect = false;
  /** When the store last failed, in the judge's counting. */
  failedAt = 0;
  /** Whether the page has received what the store had kept. */
  hasRead = false;

  constructor(tab: number, before?: PageRecord) {
    this.tab = tab;
    this.inherited = before?.ownKept ?? new Floors();
    this.ownKept = this.inherited.copy();
  }
}

/** A view that was shown to a page. */
export interface ShownView {
  readonly page: PageRecord;
  readonly principal: string;
  readonly read: ReadKind;
  readonly session: SessionRecord | undefined;
  readonly level: string;
  readonly value: unknown;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** When the operation began. */
  readonly began: number;
}

interface Given {
  /** The tabs that it was given to. */
  readonly tabs: Set<number>;
  /** When the newest operation that gave it began. */
  began: number;
  /** When it was last given, in the judge's counting, and in milliseconds. */
  at: number;
  atMs: number;
}

interface Stored {
  readonly shown: Shown;
  readonly at: number;
}

/** Ids of views have four parts; the store keeps other things of the cache, too. */
const isViewId = (id: string): boolean => (JSON.parse(id) as unknown[]).length === 4;

export class CacheChecker {
  readonly problems: string[] = [];
  readonly #history: History;
  readonly #setting: CacheOptions;
  readonly #sights: Coverage;
  readonly #nowMs: () => number;
  /** By what was shown, to whom and by which read. */
  readonly #given = new Map<string, Given>();
  /** By tab and id: what a page of the tab last stored. */
  readonly #stored = new Map<string, Stored>();
  /** By object: by whom an update of it was last answered, when. */
  readonly #updated = new Map<ObjectName, Map<string, number>>();
  /** By object: when something last happened to it that may have dropped what was stored of it. */
  readonly #droppedAt: Record<ObjectName, number> = { a: 0, b: 0, card: 0 };
  readonly #clearings: Clearing[] = [];
  #tick = 0;

  constructor(history: History, setting: CacheOptions, sights: Coverage, nowMs: () => number) {
    this.#history = history;
    this.#setting = setting;
    this.#sights = sights;
    this.#nowMs = nowMs;
  }

  tick(): number {
    return ++this.#tick;
  }

  wrong(promise: string, description: string): void {
    this.problems.push(`${promise}: ${description}`);
  }

  /** The store behind is about to answer: what a cache may keep from now on. */
  gives(page: PageRecord, submission: Submission, shown: Shown | undefined): void {
    const { began, isUpdate } = submission;
    if (isUpdate) this.updates(submission);
    if (shown === undefined) return;
    const text = JSON.stringify(shown);
    const before = this.#given.get(text) ?? { began: 0, tabs: new Set() };
    const tabs = before.tabs.add(page.tab);
    this.#given.set(text, {
      began: Math.max(began, before.began),
      at: this.tick(),
      atMs: this.#nowMs(),
      tabs,
    });
    page.givenAtMs.set(text, this.#nowMs());
  }

  /**
   * An update is about to be answered: what was stored of its objects, or shown to another user,
   * may be gone.
   */
  updates({ what: description, principal }: Submission): number {
    for (const object of description.objects) {
      this.#droppedAt[object] = this.tick();
      const answered = this.#updated.get(object) ?? new Map<string, number>();
      this.#updated.set(object, answered.set(principal, this.#tick));
    }
    return this.#tick;
  }

  /**
   * A page has heard of what other pages have changed: what it showed to other users of that is
   * forgotten.
   */
  heard(page: PageRecord): void {
    for (const [object, authors] of this.#updated)
      for (const author of authors.keys())
        this.#forgetRead(page, { principal: undefined, object }, author);
  }

  /** A write had its final view at the strongest level. */
  onCommitted(page: PageRecord, submission: Submission, session: SessionRecord | undefined): void {
    const at = submission.executedAt.get('strong')!;
    const isKept = page.failedAt < submission.began && !page.isSuspect;
    for (const object of submission.what.objects) {
      const name = `${submission.principal} ${object}`;
      page.own.raise(name, at);
      if (isKept) page.ownKept.raise(name, at);
      session?.floors.raise(object, at);
    }
    this.#sights.saw(isKept ? 'own write' : 'own write while the store is ill');
  }

  /**
   * The store has taken a transaction that was requested when `own` were the confirmed own writes.
   */
  wrote(page: PageRecord, own: Floors): void {
    page.isSuspect = false;
    page.ownKept.raiseAll(own);
  }

  /**
   * A write had its final view at a weaker level. Earlier values of its objects may not be shown
   * any more.
   */
  onFinalEarly(page: PageRecord, { principal, what: description, earlyAt }: Submission): void {
    for (const object of description.objects)
      page.early.push({ principal, object, askedAt: earlyAt });
  }

  /**
   * A view was shown: judged where it is the cache's, remembered where it binds what comes later.
   */
  shown(view: ShownView): void {
    const { level, value, page, principal, read, session } = view;
    if (level === 'cache' && !this.#mayBeShown(view)) return;
    const { by } = value as Shown;
    if (by !== principal)
      this.wrong('P5', `${principal} was shown at level ${level} what ${by} asked for`);
    if (level !== 'cache' && (!this.#isCommitted(level) || !this.#isTrusted(view))) return;
    for (const [object, number] of Object.entries((value as Shown).seen)) {
      const at = this.#history.placeOf(number)?.at ?? 0;
      page.read.raise(`${principal} ${read.name} ${object}`, at);
      session?.floors.raise(object, at);
    }
  }

  /** Another user signs in. The order of views before that no longer matters. */
  signedIn(page: PageRecord): void {
    this.#forgetRead(page, { principal: undefined, object: undefined });
  }

  /** Views are requested to be dropped, so the checker forgets that pages have seen them. */
  asksClearing(pages: readonly PageRecord[], scope: Omit<Clearing, 'askedAt'>): Clearing {
    const askedAt = this.tick();
    for (const object of scope.object === undefined ? OBJECTS : [scope.object])
      this.#droppedAt[object] = askedAt;
    for (const page of pages) this.#forgetRead(page, scope);
    return { ...scope, askedAt };
  }

  /** A clearing was confirmed: it holds for pages that have the notice, and for the store. */
  hasCleared(page: PageRecord, clearing: Clearing): void {
    page.cleared.push(clearing);
    this.#forgetRead(page, clearing);
  }

  /** From now on the store must not contain what was cleared. */
  hasClearedStore(clearing: Clearing, entries: ReadonlyMap<string, CacheEntry>): void {
    // Entries of an invalidated object may stay in the store, as long as they are not shown.
    if (clearing.object !== undefined) return;
    this.#clearings.push(clearing);
    for (const [id, entry] of entries) if (isViewId(id)) this.#checkCleared(id, entry);
  }

  /** A page reads what is stored: what its tab stored last is the least that it may show. */
  loads(page: PageRecord): void {
    page.stored = new Floors();
    for (const [name, { shown, at }] of this.#stored) {
      if (!name.startsWith(`${page.tab} `) || at > page.openedAt) continue;
      if (this.#wasDropped(shown)) continue;
      for (const [object, moment] of this.#momentsOf(shown))
        page.stored.raise(`${shown.by} ${shown.read} ${object}`, moment);
    }
  }

  /** A transaction of a tab has changed the content of the store. */
  committed(
    writer: PageRecord,
    before: ReadonlyMap<string, CacheEntry>,
    after: ReadonlyMap<string, CacheEntry>,
    pages: readonly PageRecord[],
  ): void {
    for (const [id, entry] of before) {
      if (isViewId(id) && !after.has(id)) this.#forgetStored(entry.value as Shown, id, pages);
    }
    for (const [id, entry] of after) {
      const old = before.get(id);
      if (!isViewId(id) || old === entry) continue;
      const shown = entry.value as Shown;
      if (shown.read === SECRET.name || shown.read === 'count card')
        this.wrong('cacheable', `stored ${id}`);
      this.#checkCleared(id, entry);
      const stored = [...this.#stored].findLast(([name]) => name.endsWith(` ${id}`))?.[1];
      if (old !== undefined && stored !== undefined)
        this.#checkReplaced(id, old.value as Shown, shown);
      this.#stored.delete(`${writer.tab} ${id}`);
      this.#stored.set(`${writer.tab} ${id}`, { shown, at: this.tick() });
    }
  }

  #mayBeShown(view: ShownView): boolean {
    const { value, page, principal, read, session, meta } = view;
    const wrong = (promise: string, description: string): false => {
      const text = JSON.stringify(value);
      this.wrong(
        promise,
        `tab ${page.tab} was shown ${text} at level cache of "${read.name}": ${description}`,
      );
      return false;
    };
    const { by, read: name, seen } = value as Shown;
    if (by !== principal) return wrong('P5', `it was asked for by ${principal}`);
    if (name !== read.name) return wrong('key', 'it is of another read');
    if (read.objects.includes('card')) return wrong('cacheable', 'nothing of it may be kept');
    if (!this.#isCommitted(String(meta?.['cachedFrom'])))
      return wrong('committed', `from ${String(meta?.['cachedFrom'])}`);
    for (const [object, at] of this.#momentsOf(value as Shown)) {
      if (at === 0) return wrong('P7', `${object} was never so`);
      const own = Math.max(
        page.own.of(`${principal} ${object}`),
        page.inherited.of(`${principal} ${object}`),
      );
      if (at < own)
        return wrong('P1', `${object} is as at ${at}; an own write of ${own} was confirmed`);
      const seenAt = this.#keepsWhatWasSeen() ? page.read.of(`${principal} ${name} ${object}`) : 0;
      if (at < seenAt) return wrong('P2', `${object} is as at ${at}; it was shown as at ${seenAt}`);
      const known = session?.floors.of(object) ?? 0;
      if (at < known) return wrong('P3', `${object} is as at ${at}; the session knows ${known}`);
      const stored =
        this.#keepsWhatWasSeen() && page.hasRead
          ? page.stored.of(`${principal} ${name} ${object}`)
          : 0;
      if (at < stored) return wrong('P4', `${object} is as at ${at}; the tab had stored ${stored}`);
    }
    const input = this.#given.get(JSON.stringify(value));
    if (input === undefined) return wrong('P7', 'it was never written');
    for (const clearing of page.cleared) {
      if (
        isCleared(clearing, by, seen, read.touches === undefined) &&
        input.began < clearing.askedAt
      )
        return wrong('P6', `it was cleared`);
    }
    for (const reported of page.early) {
      if (isCleared(reported, by, seen, read.touches === undefined) && input.at < reported.askedAt)
        return wrong('P1', `of ${reported.object}, a write was final at a weaker level`);
    }
    const { ttlMs, hasClockJumps } = this.#setting;
    const givenAtMs =
      page.givenAtMs.get(JSON.stringify(value)) ?? (hasClockJumps ? Infinity : input.atMs);
    if (ttlMs !== undefined && this.#nowMs() - givenAtMs > ttlMs && givenAtMs >= input.atMs)
      return wrong('ttl', `it is ${this.#nowMs() - givenAtMs} ms old`);
    this.#sawHit(view, input);
    return true;
  }

  #sawHit({ page, principal, read, session, meta }: ShownView, value: Given): void {
    this.#sights.saw('hit');
    const updaters = read.objects.flatMap((object) => [...(this.#updated.get(object) ?? [])]);
    const isOfOthers =
      updaters.length > 0 &&
      updaters.every(([caller, at]) => caller !== principal && at < value.began);
    if (isOfOthers && meta?.['cachedFrom'] === 'weak')
      this.#sights.saw('weak hit after a write of another user');
    if (value.began < page.openedAt) this.#sights.saw('hit of what was kept');
    if (!value.tabs.has(page.tab)) this.#sights.saw('hit from another tab');
    if (session !== undefined) this.#sights.saw('hit in a session');
    if (read.objects.some((object) => page.own.of(`${principal} ${object}`) > 0))
      this.#sights.saw('hit after own write');
    if (page.cleared.length > 0) this.#sights.saw('hit after a clearing');
    if (this.#history.restoredAt > 0) this.#sights.saw('hit after a restored backup');
    this.#sights.saw(`hit of ${read.name}`);
    this.#sights.saw(`hit with versions: ${this.#setting.versioning}`);
  }

  /** What leaves by its bounds or its age is forgotten: nothing is promised of it any more. */
  #keepsWhatWasSeen(): boolean {
    return this.#setting.maxEntries > 10 && this.#setting.ttlMs === undefined;
  }

  #isCommitted(level: string): boolean {
    return level === 'strong' || (level === 'weak' && this.#setting.isWeakCommitted);
  }

  /**
   * Whether a view shows the newest value. Versions of a restored store claim the opposite: against
   * them only a view at the strongest level counts, of an operation that began when all kept values
   * were there.
   */
  #isTrusted({ level, value, page, began }: ShownView): boolean {
    const { restoredAt } = this.#history;
    const isHealthy = restoredAt === 0 || ['none', 'tag'].includes(this.#setting.versioning);
    if (isHealthy || this.#momentsOf(value as Shown).every(([, at]) => at < restoredAt))
      return true;
    return level === 'strong' && began > page.loadedAt;
  }

  #momentsOf({ seen }: Shown): (readonly [ObjectName, number])[] {
    return Object.entries(seen).map(([object, number]) => {
      const place = number === GUESSED ? undefined : this.#history.placeOf(number);
      return [object as ObjectName, place?.object === object ? place.at : 0] as const;
    });
  }

  #forgetRead(
    page: PageRecord,
    { principal, object }: Omit<Clearing, 'askedAt'>,
    author?: string,
  ): void {
    const isChosen = (name: string): boolean => {
      const [whose, ...read] = name.split(' ');
      if (whose === author || (principal !== undefined && whose !== principal)) return false;
      return object === undefined || dependsOn(read.slice(0, -1).join(' '), object);
    };
    page.read.forget(isChosen);
    page.stored.forget(isChosen);
  }

  #forgetStored(shown: Shown, id: string, pages: readonly PageRecord[]): void {
    for (const name of this.#stored.keys()) if (name.endsWith(` ${id}`)) this.#stored.delete(name);
    for (const page of pages)
      page.stored.forget((name) => name.startsWith(`${shown.by} ${shown.read} `));
  }

  /**
   * What was given before it was to be dropped may be stored after that, and has nothing to say any
   * more.
   */
  #checkReplaced(id: string, old: Shown, next: Shown): void {
    if (!this.#keepsWhatWasSeen() || this.#wasDropped(old)) return;
    const was = new Map(this.#momentsOf(old));
    for (const [object, at] of this.#momentsOf(next)) {
      const before = was.get(object) ?? 0;
      if (at < before)
        this.wrong('P4', `${id} was stored as at ${before}, and replaced by ${object} as at ${at}`);
    }
  }

  /**
   * Returns whether one of the objects that a view depends on was dropped after the view was given.
   * A view is dropped as a whole.
   */
  #wasDropped(shown: Shown): boolean {
    const givenAt = this.#given.get(JSON.stringify(shown))?.at ?? 0;
    return OBJECTS.some(
      (object) => dependsOn(shown.read, object) && this.#droppedAt[object] > givenAt,
    );
  }

  #checkCleared(id: string, { value, touches }: CacheEntry): void {
    const { by, seen } = value as Shown;
    const began = this.#given.get(JSON.stringify(value))?.began ?? 0;
    for (const clearing of this.#clearings) {
      if (isCleared(clearing, by, seen, touches === undefined) && began < clearing.askedAt)
        this.wrong('P6', `${id} lies in the store, though it was cleared`);
    }
  }
}

function isCleared(
  { principal, object }: Clearing,
  by: string,
  seen: Shown['seen'],
  isOfAny: boolean,
): boolean {
  return (
    (principal === undefined || principal === by) &&
    (object === undefined || object in seen || isOfAny)
  );
}

/** Returns whether the cache assumes that a read depends on an object. */
function dependsOn(name: string, object: ObjectName): boolean {
  return READS.some((read) => read.name === name && (read.touches ?? OBJECTS).includes(object));
}
