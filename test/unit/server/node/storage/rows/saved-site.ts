/** A site's sections with random changes, which are committed to a simulated disk. */
import { Random } from '../../../../../../src/server/service/collections/random.ts';
import {
  RowChanges,
  type Section,
} from '../../../../../../src/server/service/records/checkpoint.ts';
import {
  createInsertEffect,
  createRemoveEffect,
  type Effect,
  type Stamp,
} from '../../../../../../src/server/service/records/effect.ts';
import { RED } from '../../../../../../src/server/service/records/origin.ts';
import { Store } from '../../../../../../src/server/service/state/store.ts';
import { queue, register, set, table } from '../../../../../../src/server/service/tables.ts';
import {
  RowCommits,
  type HeldCommit,
} from '../../../../../../src/server/node/storage/rows/row-commits.ts';
import { startCommit } from '../../../../../row-stores/commit.ts';
import { NO_ROWS } from '../../../../../../src/server/node/storage/rows/saved-state.ts';
import { seal } from '../../../../../../src/server/node/storage/rows/sealed-entries.ts';
import { encodeValue } from '../../../../../../src/server/node/storage/format/value-text.ts';
import { SimulatedRowDisk } from '../../../../../../src/testing/simulator/disk/simulated-row-disk.ts';
import { Timeline } from '../../../../../../src/testing/simulator/timeline.ts';
import { siteAt } from '../../../../../support/origins.ts';

export const TABLES = {
  kept: table({ owner: register<string>(), items: queue<unknown>() }, { indexes: ['owner'] }),
  notes: table(
    { title: register<string>(), tags: set<string>() },
    { indexes: ['title', 'tags'], removable: true },
  ),
  carts: table({ items: queue<unknown>(), note: register<string>() }, { removable: true }),
};
const KEYS = ['', '\u0000', 'a', 'a\u0000', 'a b', '\ud800\udc00', '\uffff', 'z'];
/** Of three such items, a part of a queue is full. */
const LONG = 'x'.repeat(30_000);

export const SMALL_PARTS = { shared: { log: { delivered: 7 } }, own: { clock: 3 } };

export class SavedSite {
  readonly timeline = new Timeline();
  readonly disk = new SimulatedRowDisk({
    timeline: this.timeline,
    random: new Random(1),
    syncMeanMs: 1,
  });
  /** Has the same rows, all of them in memory. */
  readonly plain = new Store(TABLES);
  readonly stored = new Store(TABLES);
  /** The rows of the section `own.slots`. */
  readonly listed = new Map(KEYS.map((key) => [key, `of ${key}`]));
  readonly failures: Error[] = [];
  readonly #random: Random;
  readonly #commits: RowCommits;
  readonly #listedChanges: RowChanges<string>;
  #time = 0;

  constructor(seed = 7) {
    this.#random = new Random(seed);
    const store = this.disk.open();
    this.stored.open(NO_ROWS, { cacheBytes: 1000, maxChunk: 3 });
    const run = (after: () => void): void => this.timeline.schedule(0, after);
    this.#listedChanges = new RowChanges<string>({
      listKeys: () => this.listed.keys(),
      save: (name) => this.listed.get(name),
    });
    this.#commits = new RowCommits({
      store,
      snapshot: store.openSnapshot(),
      timing: {
        soon: run,
        later: run,
        afterMs: (delayMs, after) => this.timeline.schedule(delayMs, after),
      },
      source: {
        sections: { rows: this.stored, 'own.slots': this.#createListed() },
        createCut: () => ({ smallParts: SMALL_PARTS, contained: { local: this.#time, red: 0 } }),
        retainedFrom: { local: 0, red: 0 },
      } as never,
      number: 0,
      onDone: () => {},
      onFailed: (error) => this.failures.push(error),
      onBroken: () => {},
    });
    for (let round = 0; round < 4; round += 1) {
      for (let step = 0; step < 150; step += 1) this.change();
      this.commit().release();
    }
  }

  /** Makes a random change. */
  change(): void {
    this.#time += 1;
    const time = this.#time;
    const key = this.#draw(KEYS);
    const queued = { table: this.#draw(['kept', 'carts']), key, field: 'items' };
    const value = this.#draw(KEYS);
    const [isRed, effect] = this.#draw<readonly [boolean, Effect]>([
      [false, { table: 'kept', key, field: 'owner', action: 'write', value }],
      [false, { table: 'notes', key, field: 'title', action: 'write', value }],
      [false, { table: 'notes', key, field: 'tags', action: 'add', value }],
      [false, createRemoveEffect('notes', key)],
      [true, createInsertEffect('carts', key)],
      [true, createRemoveEffect('carts', key)],
      [true, { ...queued, action: 'push', value: LONG }],
      [true, { ...queued, action: 'push', value: LONG }],
      [true, { ...queued, action: 'pop' } as unknown as Effect],
    ]);
    const site = siteAt(0);
    const entry = isRed ? RED : site;
    const stamp = { time, site, entry, version: time, seen: [time - 1, time - 1, time - 1] };
    for (const store of [this.plain, this.stored]) store.apply(effect, stamp as unknown as Stamp);
  }

  setListed(name: string, value: string): void {
    this.#listedChanges.note(name);
    this.listed.set(name, value);
  }

  /** Makes a commit, which must succeed. */
  commit(): HeldCommit {
    const held = this.tryCommit();
    if (held === undefined) throw this.failures.at(-1) as Error;
    return held;
  }

  /** Makes a commit; `undefined` if it fails. */
  tryCommit(): HeldCommit | undefined {
    let held: HeldCommit | undefined;
    let isDone = false;
    this.#commits.take((_, taken) => {
      held = taken;
      isDone = true;
    });
    this.timeline.run(this.timeline.nowMs + 1000, () => isDone);
    return held;
  }

  /** Replaces the bytes of an entry of the disk. */
  putBytes(key: Uint8Array, value: Uint8Array): void {
    let isDone = false;
    startCommit(this.disk.open(), { puts: [[key, value]], removals: [] }, () => {
      isDone = true;
    });
    this.timeline.run(this.timeline.nowMs + 1000, () => isDone);
  }

  /** Replaces an entry of the disk by a whole one with another value. */
  put(key: Uint8Array, value: unknown): void {
    this.putBytes(key, seal(key, Buffer.from(encodeValue(value))));
  }

  #createListed(): Section {
    const changes = this.#listedChanges;
    return {
      changeAll: () => changes.changeAll(),
      closeChanges: () => changes.closeChanges(),
      takeClosed: (max) => changes.takeClosed(max),
      restore: () => {},
    };
  }

  #draw<T>(items: readonly T[]): T {
    return items[this.#random.between(0, items.length - 1)] as T;
  }
}

/** Takes all rows of a store that has them in memory, as a checkpoint has them. */
export function takeAll(store: Store): Map<string, unknown> {
  store.closeChanges();
  const rows = new Map<string, unknown>();
  for (let taken = store.takeClosed(7); taken.length > 0; taken = store.takeClosed(7))
    for (const [name, value] of taken) rows.set(name, value);
  return rows;
}
