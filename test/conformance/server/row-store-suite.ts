/** What each store of rows keeps to. */
import { describe, expect, test } from 'vitest';
import { startCommit, type BatchChanges } from '../../row-stores/commit.ts';
import type { EntryKey, RowStore } from '../../../src/server/node/storage/rows/row-store.ts';

/** A store that is tested, on a disk of its own. */
export interface RowStoreUnderTest {
  open(): RowStore | Promise<RowStore>;
  /** Lets a commit that has begun come to its end. */
  settle(): Promise<void>;
  /** Ends the process of the store, whatever is in flight. The next `open` finds what is left. */
  crash(): void | Promise<void>;
  /** Leaves no room on the disk, or makes room again. Absent if that cannot be done here. */
  setFull?(isFull: boolean): void;
}

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));
/** As hexadecimal digits: a store may return any kind of bytes. */
const toHex = (value: Uint8Array | undefined): string | undefined =>
  value && Buffer.from(value).toString('hex');
const put = (...texts: readonly string[]): BatchChanges => ({
  puts: texts.map((text) => [bytes(text), bytes(`value of ${text}`)]),
  removals: [],
});

/** Keys that stores get wrong: zeros, all bytes, one that begins as another one, a long one. */
const HARD_KEYS: readonly EntryKey[] = [
  Uint8Array.of(0),
  Uint8Array.of(0, 0),
  Uint8Array.of(0, 1),
  Uint8Array.of(255),
  Uint8Array.of(255, 0),
  Uint8Array.of(0xed, 0xa0, 0x80),
  Uint8Array.from({ length: 256 }, (_, code) => code),
  new Uint8Array(300_000).fill(7),
];

class Opened {
  readonly store: RowStore;
  readonly #place: RowStoreUnderTest;

  private constructor(place: RowStoreUnderTest, store: RowStore) {
    this.#place = place;
    this.store = store;
  }

  static async open(place: RowStoreUnderTest): Promise<Opened> {
    return new Opened(place, await place.open());
  }

  /** Returns how the commit has ended: `synced`, `failed`, or nothing. */
  async commit(batch: BatchChanges): Promise<string | undefined> {
    let end: string | undefined;
    startCommit(this.store, batch, (error) => (end = error === undefined ? 'synced' : 'failed'));
    await this.#place.settle();
    return end;
  }

  read(...texts: readonly string[]): readonly (string | undefined)[] {
    return texts.map((text) => {
      const value = this.store.get(bytes(text));
      return value && Buffer.from(value).toString();
    });
  }
}

export function describeRowStore(name: string, create: () => RowStoreUnderTest): void {
  describe(`${name}: a store of rows`, () => {
    describeCommits(create);
    describeCrashes(create);
  });
}

function describeCommits(create: () => RowStoreUnderTest): void {
  test('entries that are put, replaced and removed → read as the last commit has them', async () => {
    const opened = await Opened.open(create());
    expect(await opened.commit(put('a', 'b', 'c'))).toBe('synced');
    const batch: BatchChanges = { puts: [[bytes('a'), bytes('new')]], removals: [bytes('b')] };
    expect(await opened.commit(batch)).toBe('synced');
    expect(opened.read('a', 'b', 'c', 'd')).toEqual(['new', undefined, 'value of c', undefined]);
  });

  test('a removal of what is not there, and an empty batch → synced', async () => {
    const opened = await Opened.open(create());
    expect(await opened.commit({ puts: [], removals: [bytes('a')] })).toBe('synced');
    expect(await opened.commit({ puts: [], removals: [] })).toBe('synced');
  });

  test('keys and values of any bytes and length → each by itself', async () => {
    const opened = await Opened.open(create());
    const puts = HARD_KEYS.map(
      (key, index) => [key, new Uint8Array(index * 1000).fill(index)] as const,
    );
    expect(await opened.commit({ puts, removals: [] })).toBe('synced');
    for (const [key, value] of puts) expect(toHex(opened.store.get(key))).toBe(toHex(value));
    expect(await opened.commit({ puts: [], removals: HARD_KEYS.slice(1) })).toBe('synced');
    expect(HARD_KEYS.filter((key) => opened.store.get(key) !== undefined)).toHaveLength(1);
  });

  test('a commit in flight → before it is reported, all of it is visible or nothing', async () => {
    const place = create();
    const { store } = await Opened.open(place);
    const texts = Array.from({ length: 1000 }, (_, index) => `key ${index}`);
    const seen = new Set<number>();
    const look = (): void => {
      seen.add(texts.filter((text) => store.get(bytes(text)) !== undefined).length);
    };
    startCommit(store, put(...texts), look);
    look();
    await place.settle();
    look();
    expect([...seen].filter((count) => count !== 0 && count !== 1000)).toEqual([]);
    expect(seen).toContain(1000);
  });

  test('a batch that is discarded → changes nothing, and the next one is committed', async () => {
    const opened = await Opened.open(create());
    await opened.commit(put('a'));
    const batch = opened.store.createBatch();
    batch.put(bytes('b'), bytes('new'));
    batch.remove(bytes('a'));
    batch.discard();
    expect(await opened.commit(put('c'))).toBe('synced');
    expect(opened.read('a', 'b', 'c')).toEqual(['value of a', undefined, 'value of c']);
  });

  test('bytes that change once they are in a batch → committed as they were', async () => {
    const place = create();
    const opened = await Opened.open(place);
    const batch = opened.store.createBatch();
    const [key, value] = [bytes('a'), bytes('value')];
    batch.put(key, value);
    key.fill(0);
    value.fill(0);
    batch.commit(() => {});
    await place.settle();
    expect(opened.read('a')).toEqual(['value']);
  });

  test('what a reader does with a value → changes nothing in the store', async () => {
    const opened = await Opened.open(create());
    await opened.commit(put('a'));
    opened.store.get(bytes('a'))?.fill(0);
    expect(opened.read('a')).toEqual(['value of a']);
  });

  test('a snapshot → what was visible when it was opened, whatever is committed later', async () => {
    const opened = await Opened.open(create());
    await opened.commit(put('a', 'b'));
    const snapshot = opened.store.openSnapshot();
    await opened.commit({ puts: [[bytes('a'), bytes('new')]], removals: [bytes('b')] });
    await opened.commit(put('c'));
    expect(['a', 'b', 'c'].map((text) => toHex(snapshot.get(bytes(text))))).toEqual([
      toHex(bytes('value of a')),
      toHex(bytes('value of b')),
      undefined,
    ]);
    snapshot.close();
    expect(opened.read('a', 'b')).toEqual(['new', undefined]);
  });
}

function describeCrashes(create: () => RowStoreUnderTest): void {
  test('a commit that was reported → there after a crash', async () => {
    const place = create();
    expect(await (await Opened.open(place)).commit(put('a'))).toBe('synced');
    await place.crash();
    expect((await Opened.open(place)).read('a')).toEqual(['value of a']);
  });

  test('a crash in a commit → all of it or nothing, and the one before it', async () => {
    const place = create();
    const opened = await Opened.open(place);
    await opened.commit(put('before'));
    let isReported = false;
    startCommit(
      opened.store,
      {
        ...put(...Array.from({ length: 100 }, (_, index) => `${index}`)),
        removals: [bytes('before')],
      },
      () => (isReported = true),
    );
    await place.crash();
    await place.settle();
    const again = await Opened.open(place);
    const left = again.read('before', ...Array.from({ length: 100 }, (_, index) => `${index}`));
    const count = left.filter((value) => value !== undefined).length;
    expect([1, 100]).toContain(count);
    expect(left[0] === undefined).toBe(count === 100);
    expect(isReported).toBe(false);
  });

  test('closed and opened again → the same entries', async () => {
    const place = create();
    const opened = await Opened.open(place);
    await opened.commit(put('a'));
    await opened.store.close();
    expect((await Opened.open(place)).read('a')).toEqual(['value of a']);
  });

  test('a full disk → the commit fails as a whole; once there is room, the next one has its rows too', async () => {
    const place = create();
    if (place.setFull === undefined) return;
    const opened = await Opened.open(place);
    await opened.commit(put('a'));
    place.setFull(true);
    expect(await opened.commit(put('b', 'c'))).toBe('failed');
    expect(opened.read('a', 'b', 'c')).toEqual(['value of a', undefined, undefined]);
    place.setFull(false);
    expect(await opened.commit(put('b', 'c', 'd'))).toBe('synced');
    await place.crash();
    expect((await Opened.open(place)).read('a', 'b', 'd')).toEqual([
      'value of a',
      'value of b',
      'value of d',
    ]);
  });
}
