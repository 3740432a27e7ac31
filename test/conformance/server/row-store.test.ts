/** The stores of rows: in memory, and on a disk. */
import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { Random } from '../../../src/server/service/collections/random.ts';
import { Timeline } from '../../../src/testing/simulator/timeline.ts';
import { LevelRowStore } from '../../../src/server/node/storage/rows/level-row-store.ts';
import type { RowBatch, RowStore } from '../../../src/server/node/storage/rows/row-store.ts';
import { SimulatedRowDisk } from '../../../src/testing/simulator/disk/simulated-row-disk.ts';
import { describeRowStore } from './row-store-suite.ts';

let seed = 0;

describeRowStore('in memory', () => {
  seed += 1;
  const timeline = new Timeline();
  const disk = new SimulatedRowDisk({ timeline, random: new Random(seed), syncMeanMs: 5 });
  return {
    open: () => disk.open(),
    settle: () => Promise.resolve(timeline.run(timeline.nowMs + 10_000)).then(() => undefined),
    crash: () => {
      // Sometimes after the commit has become visible.
      timeline.run(timeline.nowMs + (seed % 2) * 5);
      disk.crash();
    },
    setFull: (isFull) => {
      disk.isFull = isFull;
    },
  };
});

/** A folder of LevelDB. A crash leaves the files as they are at that moment. */
class LevelPlace {
  readonly #root = mkdtemp(join(tmpdir(), 'correctables-rows-'));
  #folders = 0;
  #store: RowStore | undefined;
  /** The commits that were begun. */
  #commits: Promise<void>[] = [];

  async open(): Promise<RowStore> {
    const store = await LevelRowStore.open(await this.#getFolder());
    this.#store = store;
    return {
      get: (key) => store.get(key),
      openSnapshot: () => store.openSnapshot(),
      close: () => store.close(),
      createBatch: () => this.#watch(store.createBatch()),
    };
  }

  /** Notes when the batch is committed. */
  #watch(batch: RowBatch): RowBatch {
    return {
      put: (key, value) => batch.put(key, value),
      remove: (key) => batch.remove(key),
      commit: (done) => {
        const ended = new Promise<Error | undefined>((resolve) => batch.commit(resolve));
        this.#commits.push(ended.then(done));
      },
      discard: () => batch.discard(),
    };
  }

  async settle(): Promise<void> {
    await Promise.all(this.#commits);
  }

  async crash(): Promise<void> {
    const folder = await this.#getFolder();
    this.#folders += 1;
    cpSync(folder, await this.#getFolder(), { recursive: true });
    this.#commits = [];
    await this.#store?.close();
  }

  async remove(): Promise<void> {
    await this.#store?.close();
    await rm(await this.#root, { recursive: true });
  }

  async #getFolder(): Promise<string> {
    return join(await this.#root, String(this.#folders));
  }
}

const places: LevelPlace[] = [];
afterAll(async () => {
  for (const place of places) await place.remove();
});

describeRowStore('LevelDB', () => {
  const place = new LevelPlace();
  places.push(place);
  return place;
});
