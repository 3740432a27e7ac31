/**
 * One server of a partition, as in *Geo-Replicated Storage with Scalable Deferred Update
 * Replication* (Sciascia and Pedone, DSN 2013): votes between partitions, delayed globals, and
 * locals that leap pending globals.
 *
 * This is a reconstruction. Our copy of the paper begins at the end of its section IV, so it has
 * neither the algorithms nor the sections on delaying and reordering. The rules below follow from
 * its section V, from what its evaluation measures, and from what servers need in order to decide
 * alike:
 *
 * - A local is certified by its reads, and a global in both directions: its writes must not meet
 *   what a concurrent transaction reads or writes either. Otherwise two partitions order two
 *   globals differently.
 * - A transaction is concurrent with all that had not ended in the snapshot that it has read, even
 *   if another partition has made it abort since. Servers learn votes at different moments, and
 *   must decide alike.
 * - For the same reason a server certifies a transaction only once it has ended all that the
 *   snapshot contains.
 * - A global ends only after `threshold` more transactions were delivered, also if it has all
 *   votes. Otherwise a local leaps it at one server, and comes after it at another one.
 * - A local leaps a global only if it does not overlap it, nor anything behind it.
 *
 * The machine keeps all past transactions. The paper keeps the last ones as Bloom filters, and
 * aborts what is older.
 */
import {
  intersects,
  isGlobal,
  listRows,
  overlaps,
  type Part,
  type Transaction,
} from './transaction.ts';

export interface PaperServerOptions {
  readonly partition: number;
  /**
   * R: how many transactions may be delivered after a global while locals leap it. 0: none leaps.
   */
  readonly threshold: number;
  /** Δ: how much later a global is broadcast in the own partition than in the other ones. */
  readonly delayMs: number;
}

/** How a partition has certified a global. */
export interface Vote {
  readonly transaction: number;
  readonly partition: number;
  readonly commits: boolean;
}

export type PaperServerOutput =
  /** Append it to the log of the partition, after the delay. */
  | {
      readonly kind: 'broadcast';
      readonly partition: number;
      readonly transaction: Transaction;
      readonly afterMs: number;
    }
  /** Send it to all servers of the partition `to`. */
  | { readonly kind: 'vote'; readonly to: number; readonly vote: Vote }
  /** It has ended here. The server to which its client is connected answers. */
  | { readonly kind: 'end'; readonly transaction: Transaction; readonly commits: boolean };

/** What a transaction reads in one partition: all from one moment. */
export interface Snapshot {
  readonly snapshot: number;
  /** By row: its last writer, or `undefined` if it has none. */
  readonly writers: ReadonlyMap<number, number | undefined>;
}

/** A transaction that has passed the certification of this partition. */
interface Certified {
  readonly transaction: Transaction;
  readonly part: Part;
  /** Its place in the log, from 1 on. */
  readonly place: number;
  /**
   * How many transactions had ended here when it ended, with it. `undefined` while it is pending.
   */
  endedAt: number | undefined;
}

export class PaperServer {
  readonly #options: PaperServerOptions;
  readonly #writers = new Map<number, number>();
  /**
   * Delivered transactions that are not certified yet. The first one waits for the end of what it
   * has read.
   */
  readonly #delivered: Transaction[] = [];
  /** How many transactions were taken from the log. */
  #place = 0;
  /** In the order in which they end. */
  readonly #pending: Certified[] = [];
  readonly #ended: Certified[] = [];
  /** By row: the transactions that read or write it, so that few are compared. */
  readonly #users = new Map<number, Certified[]>();
  /**
   * By transaction: the votes of other partitions by partition. A vote may come before its
   * transaction.
   */
  readonly #votes = new Map<number, Map<number, boolean>>();
  /** Globals that have ended here. Each server of a partition votes, so votes still come. */
  readonly #finished = new Set<number>();
  #outputs: PaperServerOutput[] = [];

  constructor(options: PaperServerOptions) {
    this.#options = options;
  }

  /** The names of the transactions that have ended here, in their order. */
  get ended(): readonly number[] {
    return this.#ended.map(({ transaction }) => transaction.name);
  }

  /** How many transactions have passed the certification here, and have not ended. */
  get pendingCount(): number {
    return this.#pending.length;
  }

  takeOutputs(): PaperServerOutput[] {
    const outputs = this.#outputs;
    this.#outputs = [];
    return outputs;
  }

  read(rows: readonly number[]): Snapshot {
    return {
      snapshot: this.#ended.length,
      writers: new Map(rows.map((row) => [row, this.#writers.get(row)])),
    };
  }

  /** Commits a transaction that was executed on snapshots. */
  submit(transaction: Transaction): void {
    const { partition: own, delayMs } = this.#options;
    for (const { partition } of transaction.parts) {
      const afterMs = isGlobal(transaction) && partition === own ? delayMs : 0;
      this.#outputs.push({ kind: 'broadcast', partition, transaction, afterMs });
    }
  }

  /** Takes the next transaction of the log of this partition. */
  deliver(transaction: Transaction): void {
    this.#delivered.push(transaction);
    this.#continue();
  }

  receiveVote({ transaction, partition, commits }: Vote): void {
    if (this.#finished.has(transaction)) return;
    const votes = this.#votes.get(transaction) ?? new Map<number, boolean>();
    // All servers of a partition vote alike, so one of their votes is enough.
    this.#votes.set(transaction, votes.set(partition, commits));
    this.#continue();
  }

  /**
   * Returns whether a transaction cannot commit beside a concurrent one that was delivered before
   * it.
   */
  conflicts(transaction: Transaction, part: Part, other: Part): boolean {
    return isGlobal(transaction) ? overlaps(part, other) : intersects(part.reads, other.writes);
  }

  /** Returns whether a transaction could end before one that was delivered before it. */
  commutes(part: Part, other: Part): boolean {
    return !overlaps(part, other);
  }

  /** Returns whether a global with this place in the log may still be leaped, by each server. */
  canLeap(place: number): boolean {
    return this.#place <= place + this.#options.threshold;
  }

  /** Returns whether no later local may leap a global with this place in the log. */
  isThresholdReached(place: number): boolean {
    return this.#place >= place + this.#options.threshold;
  }

  #continue(): void {
    this.#endFirst();
    for (let next = this.#delivered[0]; next !== undefined; next = this.#delivered[0]) {
      const part = this.#getOwnPart(next);
      if (part.snapshot > this.#ended.length) return;
      this.#delivered.shift();
      this.#place += 1;
      this.#take(next, part);
      this.#endFirst();
    }
  }

  #take(transaction: Transaction, part: Part): void {
    const { partition } = this.#options;
    const commits = !this.#hasConflict(transaction, part);
    for (const { partition: to } of transaction.parts) {
      const vote = { transaction: transaction.name, partition, commits };
      if (to !== partition) this.#outputs.push({ kind: 'vote', to, vote });
    }
    if (!commits) return this.#finish(transaction, commits);
    const certified: Certified = { transaction, part, place: this.#place, endedAt: undefined };
    for (const row of listRows(part)) {
      const users = this.#users.get(row);
      if (users === undefined) this.#users.set(row, [certified]);
      else users.push(certified);
    }
    const index = isGlobal(transaction) ? this.#pending.length : this.#findIndex(part);
    this.#pending.splice(index, 0, certified);
  }

  #hasConflict(transaction: Transaction, part: Part): boolean {
    return listRows(part).some((row) =>
      this.#users
        .get(row)
        ?.some(
          ({ endedAt = Infinity, part: other }) =>
            endedAt > part.snapshot && this.conflicts(transaction, part, other),
        ),
    );
  }

  #finish(transaction: Transaction, commits: boolean): void {
    this.#votes.delete(transaction.name);
    if (isGlobal(transaction)) this.#finished.add(transaction.name);
    this.#outputs.push({ kind: 'end', transaction, commits });
  }

  /**
   * Returns where a local is put: before the first global that it may leap with all that is behind
   * it.
   */
  #findIndex(part: Part): number {
    let index = this.#pending.length;
    for (let at = index - 1; at >= 0; at -= 1) {
      const { transaction, part: other, place } = this.#pending[at] as Certified;
      // Those before it are older, so no local may leap them either.
      if (isGlobal(transaction) && !this.canLeap(place)) break;
      if (!this.commutes(part, other)) break;
      if (isGlobal(transaction)) index = at;
    }
    return index;
  }

  /** Ends pending transactions in their order, up to a global that waits. */
  #endFirst(): void {
    for (let first = this.#pending[0]; first !== undefined; first = this.#pending[0]) {
      const { transaction, part, place } = first;
      const votes = this.#votes.get(transaction.name);
      if (isGlobal(transaction)) {
        const hasVotes = (votes?.size ?? 0) === transaction.parts.length - 1;
        if (!hasVotes || !this.isThresholdReached(place)) return;
      }
      const commits = votes === undefined || [...votes.values()].every(Boolean);
      this.#pending.shift();
      this.#ended.push(first);
      first.endedAt = this.#ended.length;
      if (commits) for (const row of part.writes) this.#writers.set(row, transaction.name);
      this.#finish(transaction, commits);
    }
  }

  #getOwnPart({ parts }: Transaction): Part {
    return parts.find(({ partition }) => partition === this.#options.partition) as Part;
  }
}
