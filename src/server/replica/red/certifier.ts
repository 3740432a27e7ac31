/**
 * Certification of red operations: a function of the red log's prefix alone, so that every site decides alike without
 * asking (deferred update replication, SDUR, DSN 2013; RedBlue, OSDI 2012, §6.1).
 *
 * An operation commits iff no red operation that committed after the red stamp which its generator read has written
 * something that it read, but for those that it stands on: these have committed as it names them, or it does not.
 * Commit stamps grow with the log; rejected and repeated operations take none.
 */
import { Fifo } from '../../collections/fifo.ts';
import { Changes, type SavedRow, type Section, type SectionRows } from '../../records/checkpoint.ts';
import type { Effect } from '../../records/effect.ts';
import { EXPIRED, ID_TABLE_LIMITS, IdTable } from '../once/id-table.ts';
import type { CertifierLimits } from '../../records/bounds.ts';
import type { ReadRange } from '../../records/key-range.ts';
import { clientOf } from '../../records/operation-id.ts';
import { changesRange, writtenNames } from '../../generator/read-set.ts';
import { plainBytes } from '../../../values/size.ts';
import type { Execution, OperationId, RedOperation, RedRecord } from '../../records/records.ts';
import { redOf } from '../../records/vector.ts';
import type { Conflict, Decision, Ending } from '../../records/verdict.ts';

export const CERTIFIER_LIMITS: CertifierLimits = {
  windowCommits: 10_000,
  windowBytes: 256 << 20,
  endings: ID_TABLE_LIMITS,
};

/** Which execution of an operation has committed. */
export type Committed = Pick<RedOperation, 'id' | 'site' | 'attempt' | 'after' | 'epoch'>;

interface Commit {
  readonly stamp: number;
  readonly by: Committed;
  readonly names: readonly string[];
  readonly effects: readonly Effect[];
  readonly created: ReadonlySet<string>;
  readonly bytes: number;
}

/** A commit as it is saved. */
type SavedCommit = readonly [effects: readonly Effect[], created: readonly string[], by: Committed];

const NONE: ReadonlySet<string> = new Set();

/** The state that the red log's prefix determines. */
export class Certifier implements Section {
  readonly #limits: CertifierLimits;
  readonly #lastWrite = new Map<string, number>();
  readonly #endings: IdTable<Ending>;
  readonly #window = new Fifo<Commit>();
  #windowBytes = 0;
  /** Snapshots below this stamp are older than the window. */
  #windowStart = 0;
  #lastStamp = 0;
  readonly #changes = new Changes<number>();

  constructor(limits: CertifierLimits = CERTIFIER_LIMITS) {
    this.#limits = limits;
    this.#endings = new IdTable(limits.endings);
  }

  /** How the operation ended, if it did and has not expired. */
  endingOf(id: OperationId): Ending | typeof EXPIRED | undefined {
    return this.#endings.get(id);
  }

  /** Whether one more operation of the client would cost it one of its others: as tables of identifiers say it. */
  isFullFor(client: string, besides: { readonly acknowledged: number; readonly coming: number }): boolean {
    return this.#endings.isFullFor(client, besides);
  }

  has(id: OperationId): boolean {
    return this.endingOf(id) !== undefined;
  }

  /** Takes the next record of the log. */
  decide(record: RedRecord): Decision {
    if (record.kind === 'marker') return { kind: 'marker' };
    if (record.kind === 'operation') this.#expire(record);
    if (this.isDecided(record.id)) {
      return { kind: this.#endings.get(record.id) === EXPIRED ? 'expired' : 'void' };
    }
    if (record.kind === 'close') {
      this.#endings.set(record.id, 'conflict');
      return { kind: 'closed' };
    }
    const conflict = this.conflictOf(record);
    if (conflict !== undefined) return { kind: 'reject', conflict };
    return { kind: 'commit', stamp: this.#commit(record) };
  }

  /** Every record tells what its client will not ask for again. */
  #expire({ id, acknowledged }: RedOperation): void {
    if (acknowledged !== undefined && acknowledged > 0) this.#endings.expire(clientOf(id), acknowledged);
  }

  /** The parts of the state that are saved row by row. */
  get sections(): Readonly<Record<string, Section>> {
    return { commits: this, ...this.#endings.sections('endings') };
  }

  /** The small part of the state: what the window does not say itself. */
  save(): unknown {
    return { lastStamp: this.#lastStamp, windowStart: this.#windowStart };
  }

  load(saved: unknown): void {
    const { lastStamp, windowStart } = saved as { readonly lastStamp: number; readonly windowStart: number };
    this.#lastStamp = lastStamp;
    this.#windowStart = windowStart;
  }

  /** As a section: the commits of the window, by their stamps. */
  get changes(): number {
    return this.#changes.size;
  }

  get firstTaken(): number {
    return this.#changes.firstTaken;
  }

  changeAll(): void {
    this.#changes.addAll(this.#window.slice().map(({ stamp }) => stamp));
  }

  takeChanges(max: number): SavedRow[] {
    return this.#changes.take(max).map((stamp) => [String(stamp), this.#savedCommit(stamp)]);
  }

  restore(rows: SectionRows): void {
    const commits = [...rows].map(([stamp, saved]) => {
      const [effects, created, by] = saved as SavedCommit;
      return commitOf(Number(stamp), effects, new Set(created), by);
    });
    for (const commit of commits.toSorted((a, b) => a.stamp - b.stamp)) this.#enterWindow(commit);
  }

  protected isDecided(id: OperationId): boolean {
    return this.#endings.get(id) !== undefined;
  }

  protected conflictOf(operation: RedOperation): Conflict | undefined {
    const { reads, ranges = [], snapshot, after } = operation;
    if (after !== undefined) return this.#conflictBehind(operation, after);
    if (reads.length === 0 && ranges.length === 0) return undefined;
    const read = redOf(snapshot);
    if (read < this.#windowStart) return { reason: 'window' };
    const met = reads.filter((each) => (this.#lastWrite.get(each) ?? 0) > read);
    if (met.length > 0) return metNames(met);
    const range = ranges.find((each) => this.#hasChanged(each, read));
    return range && { reason: 'range', range };
  }

  /**
   * The same for an operation that stands on others. Those it has seen, and what they stood on too: where one has
   * committed, so have these. They are met from the last one on, so that all are known by the time they are come to.
   */
  #conflictBehind(operation: RedOperation, after: readonly Execution[]): Conflict | undefined {
    const { reads, ranges = [], snapshot } = operation;
    const read = redOf(snapshot);
    if (read < this.#windowStart) return { reason: 'window' };
    const written = reads.filter((each) => (this.#lastWrite.get(each) ?? 0) > read);
    const missing = new Map(after);
    const seen = new Map(after);
    const met = new Set<string>();
    let range: ReadRange | undefined;
    for (let index = this.#window.size - 1; index >= 0; index -= 1) {
      const { stamp, by, names, effects, created } = this.#window.at(index) as Commit;
      if (stamp <= read) break;
      if (seen.get(by.id) === by.attempt && this.isOfOneStart(by, operation)) {
        missing.delete(by.id);
        for (const [id, attempt] of by.after ?? []) seen.set(id, attempt);
        continue;
      }
      for (const each of written) if (names.includes(each)) met.add(each);
      if (met.size === 0)
        range ??= ranges.find((each) => effects.some((effect) => changesRange(each, effect, created)));
    }
    const conflict = metNames(written.filter((each) => met.has(each))) ?? (range && { reason: 'range', range });
    return this.missed(missing) ?? conflict;
  }

  /** Another start of the site, and another site, may have executed the operation as often: with other effects. */
  protected isOfOneStart(by: Committed, { site, epoch }: RedOperation): boolean {
    return by.site === site && by.epoch === epoch;
  }

  /** What an operation stood on and has not committed. */
  protected missed(missing: ReadonlyMap<OperationId, number>): Conflict | undefined {
    const [first] = missing.keys();
    return first === undefined ? undefined : { reason: 'predecessor', id: first };
  }

  /** Whether a commit after `read` brought a row into the interval or took one out. */
  #hasChanged(range: ReadRange, read: number): boolean {
    if ((this.#lastWrite.get(range.table) ?? 0) <= read && range.field === undefined) return false;
    for (let index = this.#window.size - 1; index >= 0; index -= 1) {
      const { stamp, effects, created } = this.#window.at(index) as Commit;
      if (stamp <= read) return false;
      if (effects.some((effect) => changesRange(range, effect, created))) return true;
    }
    return false;
  }

  #commit(record: RedOperation): number {
    const stamp = Math.max(this.#lastStamp + 1, record.clock);
    this.#lastStamp = stamp;
    const { effects, id, site, epoch, attempt, after } = record;
    const created = record.created === undefined ? NONE : new Set(record.created);
    // Literals, since this is done for every record: copying objects costs several times more.
    const by = after === undefined ? { id, site, attempt, epoch } : { id, site, attempt, after, epoch };
    this.#enterWindow(commitOf(stamp, effects, created, by));
    this.#changes.add(stamp);
    this.#trimWindow();
    this.#endings.set(record.id, { stamp });
    return stamp;
  }

  #enterWindow(commit: Commit): void {
    for (const name of commit.names) this.#lastWrite.set(name, commit.stamp);
    this.#window.push(commit);
    this.#windowBytes += commit.bytes;
  }

  /** What a commit of the window wrote, as it is saved; `undefined` when it has left the window. */
  #savedCommit(stamp: number): SavedCommit | undefined {
    if (stamp <= this.#windowStart) return undefined;
    let low = 0;
    for (let high = this.#window.size; low < high;) {
      const middle = (low + high) >> 1;
      if ((this.#window.at(middle) as Commit).stamp < stamp) low = middle + 1;
      else high = middle;
    }
    const commit = this.#window.at(low);
    if (commit?.stamp !== stamp) return undefined;
    const { effects, created, by } = commit;
    return [effects, [...created], by];
  }

  #trimWindow(): void {
    const { windowCommits, windowBytes = Infinity } = this.#limits;
    while (this.#window.size > windowCommits || (this.#windowBytes > windowBytes && this.#window.size > 1)) {
      const oldest = this.#window.shift() as Commit;
      this.#windowBytes -= oldest.bytes;
      this.#windowStart = oldest.stamp;
      this.#changes.add(oldest.stamp);
      for (const name of oldest.names) if (this.#lastWrite.get(name) === oldest.stamp) this.#lastWrite.delete(name);
    }
  }
}

/** All that was read and has changed: who is rejected may go by more than one of them. */
function metNames([name, ...others]: readonly string[]): Conflict | undefined {
  if (name === undefined) return undefined;
  return others.length === 0 ? { reason: 'name', name } : { reason: 'name', name, others };
}

function commitOf(stamp: number, effects: readonly Effect[], created: ReadonlySet<string>, by: Committed): Commit {
  const bytes = plainBytes(effects) + (by.after === undefined ? 0 : plainBytes(by.after));
  return { stamp, by, names: writtenNames(effects, created), effects, created, bytes };
}
