/** One order of a commit, which is checked chunk by chunk. A damaged chunk hides no other one. */
import type { SavedRows } from '../../../service/records/checkpoint.ts';
import { compareEntries, type Entry } from '../../../service/records/read-range.ts';
import { OrderChunks, type OrderChunksOptions } from '../../../service/state/order-chunks.ts';
import { ResidentCache } from '../../../service/state/resident-cache.ts';
import type { CheckReport } from './check-report.ts';

export interface CheckedOrderOptions {
  /** Names the order in problems. */
  readonly description: string;
  readonly saved: SavedRows;
  /** How many entries the commit has. */
  readonly savedSize: number;
}

const CACHE_BYTES = 1024 * 1024;

export class CheckedOrder {
  readonly #name: string;
  readonly #report: CheckReport;
  /** `undefined` if its directory cannot be read. */
  readonly #chunks: OrderChunks | undefined;
  #isWhole: boolean;

  constructor({ description, saved, savedSize }: CheckedOrderOptions, report: CheckReport) {
    const options = {
      description,
      saved,
      cache: new ResidentCache(CACHE_BYTES),
    };
    const name = `the order ${description}`;
    this.#name = name;
    this.#report = report;
    const counted = report.try(name, () => new OrderChunks({ ...options, savedSize }));
    this.#isWhole = counted !== undefined;
    this.#chunks = counted ?? openUncounted(options);
  }

  /** Whether all chunks were there when they were checked. Otherwise entries are not compared. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Checks all chunks and the order of the entries. Yields the number of entries of each chunk. */
  *check(): Generator<number, void, undefined> {
    let last: Entry | undefined;
    for (const read of this.#chunks?.readers() ?? []) {
      const entries = this.#report.try(this.#name, read);
      if (entries === undefined) {
        this.#isWhole = false;
        continue;
      }
      for (const entry of entries) {
        if (last !== undefined && compareEntries(last, entry) >= 0) this.#addUnordered(entry, last);
        last = entry;
      }
      yield entries.length;
    }
  }

  /** Yields the entries of the chunks that can be read. */
  *entries(): Generator<Entry, void, undefined> {
    for (const read of this.#chunks?.readers() ?? []) {
      let entries: readonly Entry[] = [];
      try {
        entries = read();
      } catch {
        // `check` has reported it.
      }
      yield* entries;
    }
  }

  /** Yields those of the entries that the order lacks. It must be whole. */
  *findMissing(entries: readonly Entry[]): Generator<Entry, void, undefined> {
    const sorted = entries.toSorted(compareEntries);
    const [first, last] = [sorted[0], sorted.at(-1)];
    if (first === undefined || last === undefined || this.#chunks === undefined) return;
    const range = { table: '', from: first.value, upTo: last.value };
    const there = this.#chunks.scan(range, false);
    let next = there.next();
    for (const entry of sorted) {
      while (next.done !== true && compareEntries(next.value, entry) < 0) next = there.next();
      if (next.done === true || compareEntries(next.value, entry) > 0) yield entry;
    }
  }

  #addUnordered(entry: Entry, last: Entry): void {
    this.#isWhole = false;
    const [after, before] = [entry, last].map((item) => JSON.stringify(item.key));
    this.#report.add(`${this.#name} has ${after} after ${before}, which is not its order`);
  }
}

/** Opens what is there of an order; `undefined` if its directory is damaged. */
function openUncounted(options: OrderChunksOptions): OrderChunks | undefined {
  try {
    return new OrderChunks(options);
  } catch {
    return undefined;
  }
}
