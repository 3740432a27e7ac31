/**
 * Optimistic transactions on a store in this process, read from a copy that lags, with faults to be
 * found.
 */
import { CorrectableError } from '../../../../src/index.ts';
import { Random } from '../../../../src/server/service/collections/random.ts';
import { Refusal, type ListTransaction } from '../../../histories/transactions/run-recorder.ts';
import type { Transact } from '../../../histories/transactions/run-list-append.ts';

export interface StoreFaults {
  /** The version of the key that was read first is not checked. */
  readonly ignoresOneVersion?: boolean;
  /** What was read before is not read again with the next key. */
  readonly readsOnce?: boolean;
  /** A commit of unknown outcome is made again. */
  readonly retriesUnknown?: boolean;
  /** An error of the function is reported without a look at what it has read. */
  readonly skipsValidation?: boolean;
  /** Some acknowledged commits have no effect. */
  readonly losesCommits?: boolean;
  /** Some commits are made, and reported as not made. */
  readonly abortsAfterCommit?: boolean;
}

interface Versioned {
  readonly version: number;
  readonly value: unknown;
}

const ABSENT: Versioned = { version: 0, value: undefined };
const CHANGED = new Error('What was read has changed.');
const MAX_ATTEMPTS = 5;
/** How many commits the copy is behind. */
const LAG = 6;

type Rows = Map<string, Versioned>;
type Writes = ReadonlyMap<string, unknown>;

export class StoreWithFaults {
  readonly #faults: StoreFaults;
  readonly #rows: Rows = new Map();
  readonly #copy: Rows = new Map();
  readonly #toCopy: Writes[] = [];
  readonly #random = new Random(7);

  constructor(faults: StoreFaults) {
    this.#faults = faults;
  }

  readonly transact: Transact = async (_, run) => {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      if (await this.#attempt(run)) return;
      if (attempt >= MAX_ATTEMPTS / 2) this.#catchUp(0);
    }
    throw new CorrectableError('CONFLICT', 'too many conflicts');
  };

  async #attempt(run: (tx: ListTransaction) => Promise<void>): Promise<boolean> {
    const reads = new Map<string, number>();
    const writes = new Map<string, unknown>();
    const isUnchanged = (): boolean => this.#isUnchanged(reads, this.#rows);
    try {
      await run(this.#createTransaction(reads, writes));
    } catch (error) {
      if (error === CHANGED) return false;
      if (error instanceof Refusal && this.#faults.skipsValidation !== true && !isUnchanged())
        return false;
      throw error;
    }
    await this.#travel();
    return this.#commit(isUnchanged, writes);
  }

  #createTransaction(reads: Map<string, number>, writes: Map<string, unknown>): ListTransaction {
    const getMany = async (keys: readonly string[]): Promise<unknown[]> => {
      await this.#travel();
      if (this.#faults.readsOnce !== true && !this.#isUnchanged(reads, this.#copy)) throw CHANGED;
      return keys.map((key) => {
        if (writes.has(key)) return writes.get(key);
        const { version, value } = this.#copy.get(key) ?? ABSENT;
        if (!reads.has(key)) reads.set(key, version);
        return value;
      });
    };
    return {
      getMany,
      get: async (key) => (await getMany([key]))[0],
      put: (key, value) => void writes.set(key, value),
    };
  }

  #isUnchanged(reads: ReadonlyMap<string, number>, rows: Rows): boolean {
    const checked = [...reads].slice(this.#faults.ignoresOneVersion === true ? 1 : 0);
    return checked.every(([key, version]) => (rows.get(key) ?? ABSENT).version === version);
  }

  async #commit(isUnchanged: () => boolean, writes: Writes): Promise<boolean> {
    if (!isUnchanged()) return false;
    if (writes.size === 0) return true;
    const isLost = this.#faults.losesCommits === true && this.#random.chance(0.1);
    if (!isLost) this.#apply(writes);

    if (this.#faults.abortsAfterCommit === true && this.#random.chance(0.1))
      throw new CorrectableError('CONFLICT', 'too many conflicts');
    if (!this.#random.chance(0.1)) return true;
    if (this.#faults.retriesUnknown === true) return false;
    throw new CorrectableError('UNKNOWN', 'the answer was lost');
  }

  #apply(writes: Writes): void {
    applyTo(this.#rows, writes);
    this.#toCopy.push(writes);
    this.#catchUp(LAG);
  }

  #catchUp(lag: number): void {
    while (this.#toCopy.length > lag) applyTo(this.#copy, this.#toCopy.shift()!);
  }

  /** Lets others run in between. */
  async #travel(): Promise<void> {
    for (let turns = this.#random.between(1, 6); turns > 0; turns -= 1) await Promise.resolve();
  }
}

function applyTo(rows: Rows, writes: Writes): void {
  for (const [key, value] of writes)
    rows.set(key, { version: (rows.get(key) ?? ABSENT).version + 1, value });
}
