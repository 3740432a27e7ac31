/** Storage of production on a virtual disk and clock, with a state that shows what came back. */
import assert from 'node:assert/strict';
import { RowChanges } from '../../../../../src/server/service/records/checkpoint.ts';
import type { Section } from '../../../../../src/server/service/records/checkpoint.ts';
import type { CheckpointSource } from '../../../../../src/server/log/site-storage.ts';
import type { LOG_KINDS } from '../../../../../src/server/log/local-log.ts';
import type { LogPositions } from '../../../../../src/server/log/log-positions.ts';
import type {
  CheckpointCut,
  RecoveredState,
} from '../../../../../src/server/log/recovered-state.ts';
import { DurableStorage } from '../../../../../src/server/node/storage/durable-storage.ts';
import type { DurableStorageOptions } from '../../../../../src/server/node/storage/durable-storage.ts';
import type { Timing } from '../../../../../src/server/node/storage/disk/files.ts';
import type { StorageEvents } from '../../../../../src/server/log/site-storage.ts';
import { SimulatedDisk } from '../../../../../src/testing/simulator/disk/disk.ts';
import type { SimulatedDiskOptions } from '../../../../../src/testing/simulator/disk/disk.ts';
import { readCut, type SavedCut } from '../../../../../src/server/node/storage/rows/saved-state.ts';
import {
  mountSite,
  ROWS_DIRECTORY,
  SITE_DIRECTORY,
} from '../../../../../src/testing/simulator/disk/site-directory.ts';
import { Random } from '../../../../../src/server/service/collections/random.ts';
import { Timeline } from '../../../../../src/testing/simulator/timeline.ts';

export const FOLDER = SITE_DIRECTORY;

/** The logs that these storages have. */
type KnownLog = (typeof LOG_KINDS)[number];

/**
 * A state that is the list of entries of both logs. It counts the entries that were reported as
 * synced.
 */
export class TestSite implements CheckpointSource {
  readonly storage: DurableStorage;
  /** What was found. */
  readonly stored: RecoveredState;
  readonly synced: Record<KnownLog, number>;
  readonly events: string[] = [];
  /** All entries of the logs from their beginning: from the checkpoint, and after it. */
  readonly entries: Record<KnownLog, unknown[]> = { local: [], red: [] };
  /** Other sites need entries from this number on, of both logs or of each. */
  neededFrom: number | LogPositions = Infinity;
  readonly sections: Record<KnownLog | 'lengths', Section>;
  readonly #lengthsChanges = new RowChanges<'now'>({
    listKeys: () => ['now'],
    save: () => ({ ...this.synced }),
  });

  constructor(timeline: Timeline, disk: SimulatedDisk, sizes: Partial<DurableStorageOptions> = {}) {
    const events: StorageEvents = {
      onFullChanged: (because) => this.events.push(because === undefined ? 'room' : 'full'),
      onCheckpointFailed: ({ message }) => this.events.push(`checkpoint: ${message}`),
      onDamaged: (description) => this.events.push(`damaged: ${description}`),
      onStopped: ({ message }) => this.events.push(`stopped: ${message}`),
      onFenced: ({ message }) => this.events.push(`fenced: ${message}`),
    };
    this.storage = new DurableStorage({
      ...mountSite(disk),
      timing: timingOf(timeline),
      events,
      ...sizes,
    });
    this.stored = this.storage.stored;
    const { checkpoint, local, red } = this.stored;
    this.sections = {
      lengths: this.#lengths(),
      local: this.#section('local'),
      red: this.#section('red'),
    };
    // A checkpoint is of one moment: its rows say the same as the rest of it.
    assert.deepEqual(checkpoint?.sections['lengths']?.get('now'), checkpoint?.smallParts);
    for (const log of ['local', 'red'] as const) {
      for (const [index, entry] of checkpoint?.sections[log] ?? [])
        this.entries[log][Number(index)] = entry;
      const { start, entries } = log === 'local' ? local : red;
      for (const [index, entry] of entries.entries()) this.entries[log][start + index] = entry;
    }
    this.synced = { local: this.entries.local.length, red: this.entries.red.length };
    this.storage.attach(this, {
      onSynced: (kind, length) => {
        const log = kind as KnownLog;
        for (let index = this.synced[log]; index < length; index += 1)
          this.#changes[log].note(index);
        this.#lengthsChanges.note('now');
        this.synced[log] = length;
      },
      onFenced: () => {},
      onFailed: () => {},
    });
  }

  get retainedFrom(): LogPositions {
    const from = this.neededFrom;
    return typeof from === 'number' ? { local: from, red: from } : from;
  }

  createCut(): CheckpointCut {
    return { smallParts: { ...this.synced }, contained: { ...this.synced } };
  }

  append(log: KnownLog, ...entries: unknown[]): void {
    this.entries[log].push(...entries);
    this.storage.append(log, entries);
  }

  readonly #changes: Record<KnownLog, RowChanges<number>> = {
    local: this.#createChanges('local'),
    red: this.#createChanges('red'),
  };

  /** One row that changes all the time. */
  #lengths(): Section {
    const changes = this.#lengthsChanges;
    return {
      changeAll: () => changes.changeAll(),
      closeChanges: () => changes.closeChanges(),
      takeClosed: (max) => changes.takeClosed(max),
      restore: () => {},
    };
  }

  /** Entries by their places; only synced ones, as of a site's state. */
  #section(log: KnownLog): Section {
    const changes = this.#changes[log];
    return {
      changeAll: () => changes.changeAll(),
      closeChanges: () => changes.closeChanges(),
      takeClosed: (max) => changes.takeClosed(max).map(([index, entry]) => [String(index), entry]),
      restore: () => {},
    };
  }

  #createChanges(log: KnownLog): RowChanges<number> {
    const list = (): readonly unknown[] => this.entries[log].slice(0, this.synced[log]);
    return new RowChanges({ listKeys: () => list().keys(), save: (index) => list()[index] });
  }
}

function timingOf(timeline: Timeline): Timing {
  return {
    soon: (run) => timeline.schedule(0, run),
    later: (run) => timeline.schedule(0, run),
    afterMs: (delayMs, run) => timeline.schedule(delayMs, run),
  };
}

/** Storage on a machine's disk. */
export function virtualStorage(
  { timeline, disk }: VirtualMachine,
  sizes: Partial<DurableStorageOptions>,
): DurableStorage {
  return new DurableStorage({
    ...mountSite(disk),
    timing: timingOf(timeline),
    ...sizes,
  });
}

/** A clock, a disk, and one start of a site after the other. */
export class VirtualMachine {
  readonly timeline = new Timeline();
  readonly disk: SimulatedDisk;
  readonly #sizes: Partial<DurableStorageOptions>;

  constructor(
    seed: number,
    sizes: Partial<DurableStorageOptions> = {},
    disk: Partial<Pick<SimulatedDiskOptions, 'syncMeanMs' | 'instantShare'>> = {},
  ) {
    this.disk = new SimulatedDisk({
      timeline: this.timeline,
      random: new Random(seed),
      syncMeanMs: 5,
      ...disk,
    });
    this.#sizes = sizes;
  }

  start(): TestSite {
    return new TestSite(this.timeline, this.disk, this.#sizes);
  }

  /** Lets everything end that takes less than so long. */
  run(forMs = 10_000): void {
    this.timeline.run(this.timeline.nowMs + forMs);
  }

  /** The cut of the last commit that is on the disk. */
  get cut(): SavedCut | undefined {
    const reader = this.disk.rows.getReader(ROWS_DIRECTORY);
    return reader && readCut(reader);
  }

  /** The files of the site with this ending, oldest first. */
  files(ending: string): string[] {
    return this.disk
      .list(FOLDER)
      .filter((name) => name.endsWith(ending))
      .toSorted();
  }
}

/** Small files, and no checkpoint by itself. */
export const SMALL = { segmentBytes: 1000, checkpointBytes: Infinity };
export const numbers = (count: number, from = 0): number[] =>
  Array.from({ length: count }, (_, index) => from + index);

/** Writes an entry; how many are synced by that. */
export function write(site: TestSite, machine: VirtualMachine, entry: string): number {
  const before = site.synced.local;
  site.append('local', entry);
  machine.run(100);
  return site.synced.local - before;
}
