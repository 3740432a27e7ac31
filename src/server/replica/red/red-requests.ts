/** The red operations of one site that are under way. */
import type { CorrectableError } from '../../../correctable/errors.ts';
import { NumberedTable } from '../../../protocol/numbered-table.ts';
import { Counts } from '../../collections/counts.ts';
import { Fifo } from '../../collections/fifo.ts';
import type { Conflict } from '../../records/verdict.ts';
import type { Effect } from '../../records/effect.ts';
import type { GeneratorOutcome } from '../../generator/generator-run.ts';
import { tableName, writtenNames, type ReadSet } from '../../generator/read-set.ts';
import { clientOf } from '../../records/operation-id.ts';
import type { OperationId, RedRecord } from '../../records/records.ts';
import type { Submission } from '../../records/submissions.ts';

export const NO_EFFECTS: readonly Effect[] = [];

/** Who asks again and again is answered at the latest of so many places. */
const ASKERS_MAX = 4;

/** What came of a run on the stable snapshot. */
export interface StableRun {
  readonly outcome: GeneratorOutcome;
  /** What must be unchanged for it to stand. */
  readonly reads: ReadSet;
  /** Of the state that it ran on. */
  readonly version: number;
}

/** What a run may have seen of effects that lay under it. */
export interface Trace {
  /** Rows that may be there by these effects alone. */
  readonly created: ReadonlySet<string>;
  /** All names that they write. */
  readonly written: ReadonlySet<string>;
}

/** An operation that is proposed and not decided, with what it will do: see `chain.ts`. */
export interface Laid {
  readonly request: RedRequest;
  readonly attempt: number;
  readonly effects: readonly Effect[];
  /** Rows that it brings in, as its record says. */
  readonly created: readonly string[] | undefined;
  /** What others may see of it, once somebody has asked. */
  trace: Trace | undefined;
  /** What it stands on itself. */
  after: readonly Laid[];
  /** How many there are that stand on it themselves. */
  standing: number;
  /** Of the state when it was executed. */
  readonly version: number;
  /** Somebody else has changed since what it writes. */
  isMoved: boolean;
  /** It is decided, or stands on what will not commit as it was. */
  isGone: boolean;
}

/** How a red operation begins. */
export interface BegunAs {
  /** Whether it is not known to be red for ever yet. */
  readonly isHeld: boolean;
  /** For how long it has waited for rights, as blue. */
  readonly lackedMs?: number | undefined;
}

/** A red operation of this site from its submission to its end. */
export interface RedRequest {
  readonly id: OperationId;
  readonly submission: Submission;
  /** Submissions of the same operation that wait for its end; the one that it began with is the first. */
  readonly askers: Submission[];
  /** Times that the generator has run for the log. */
  attempt: number;
  /** The last record that was made for it, and whether that was proposed. */
  record: RedRecord | undefined;
  isProposed: boolean;
  /** What the last of them met. */
  conflict: Conflict | undefined;
  /** When that was first: what it had to wait for the leader before does not count. */
  rejectedAtMs: number | undefined;
  /** Since when it waits for rights, while it does. */
  lackingSinceMs: number | undefined;
  /** For how long it has waited for rights before, as blue too. */
  lackedMs: number;
  /** What it still waits for before it is executed: its hand-over to be synced, an earlier one to end. */
  holds: number;
  /** The last run of its generator on the stable snapshot; none where it failed before. */
  run: StableRun | undefined;
  /** What it has laid on the overlay. */
  previewed: readonly Effect[];
  /** What it is expected to write, until it is at its end. */
  expectedWrites: readonly string[];
  /** Its last record, while that lies under the runs of later operations. */
  laid: Laid | undefined;
  /** Whether it may read what an earlier one of this site writes. */
  mayStand: boolean;
  /** How many of those do not count: rejections for what it stood on alone, and numbers that begin above what was dropped. */
  cascades: number;
  /** It has waited once for one of another site, which was rejected: not again. */
  hasGivenWay: boolean;
  /**
   * Later operations of this site that read what this one is expected to write: they wait until it is proposed, or lacks
   * rights.
   */
  followers: Fifo<RedRequest> | undefined;
  /** Those that wait until it has ended, or lacks rights. */
  heirs: Fifo<RedRequest> | undefined;
  /** Nothing of it is under way any more. */
  isOver: boolean;
  /** Why it cannot be executed again, once that is so. */
  failure?: CorrectableError;
}

/**
 * Red operations under way, by identifier, and who is last to write what: an operation that reads what an earlier one of
 * the same site is about to write waits for it here until it can stand on it, since the red order would only send it back.
 */
export class RedRequests {
  /** By the serial of the submission that each began with: what maps let go of is soon garbage if it is but a number. */
  readonly #requests = new NumberedTable<RedRequest>();
  readonly #tokenOf = new Map<OperationId, number>();
  /** By the serial of a submission that asks for an operation under way. */
  readonly #joined = new Map<number, OperationId>();
  /** By their clients. */
  readonly #clients = new Counts();
  /** How many there are that nobody waits for. */
  #left = 0;
  /** The largest number of an execution of what was dropped. */
  #attemptsDropped = 0;
  /** Serials too, by the name of what is written. */
  readonly #lastWriter = new Map<string, number>();

  get size(): number {
    return this.#requests.size;
  }

  get ids(): Iterable<OperationId> {
    return this.#tokenOf.keys();
  }

  /** How many there are of a client. */
  countOf(client: string): number {
    return this.#clients.of(client);
  }

  get(id: OperationId): RedRequest | undefined {
    const serial = this.#tokenOf.get(id);
    return serial === undefined ? undefined : this.#requests.get(serial);
  }

  /** How many there are that nobody waits for. */
  get left(): number {
    return this.#left;
  }

  /** The operation that the submission of this serial waits for. */
  askedBy(serial: number): RedRequest | undefined {
    const id = this.#joined.get(serial);
    const request = this.#requests.get(serial) ?? (id === undefined ? undefined : this.get(id));
    return request?.askers.some((asker) => asker.serial === serial) === true ? request : undefined;
  }

  /** One more waits for the end of the operation; gives the one who waits no longer, where they are too many. */
  join(request: RedRequest, submission: Submission): Submission | undefined {
    if (request.askers.length === 0) this.#left -= 1;
    request.askers.push(submission);
    this.#joined.set(submission.serial, request.id);
    const [first] = request.askers;
    return request.askers.length > ASKERS_MAX && first !== undefined ? this.leave(request, first.serial) : undefined;
  }

  /** That one waits no longer. */
  leave(request: RedRequest, serial: number): Submission | undefined {
    const at = request.askers.findIndex((asker) => asker.serial === serial);
    this.#joined.delete(serial);
    if (at < 0) return undefined;
    if (request.askers.length === 1) this.#left += 1;
    return request.askers.splice(at, 1)[0];
  }

  begin(id: OperationId, submission: Submission): RedRequest {
    const request: RedRequest = {
      id,
      submission,
      askers: [submission],
      attempt: this.#attemptsDropped,
      record: undefined,
      isProposed: false,
      conflict: undefined,
      rejectedAtMs: undefined,
      lackingSinceMs: undefined,
      lackedMs: 0,
      holds: 0,
      run: undefined,
      previewed: NO_EFFECTS,
      expectedWrites: [],
      laid: undefined,
      mayStand: false,
      cascades: this.#attemptsDropped,
      hasGivenWay: false,
      followers: undefined,
      heirs: undefined,
      isOver: false,
    };
    this.#requests.set(submission.serial, request);
    this.#tokenOf.set(id, submission.serial);
    this.#clients.add(clientOf(id));
    return request;
  }

  /** The latest operation under way that is expected to write something of `reads`. */
  writerOf({ names, ranges }: ReadSet, except: RedRequest): RedRequest | undefined {
    let latest = 0;
    const look = (name: string): void => {
      const writer = this.#lastWriter.get(name) ?? 0;
      if (writer !== except.submission.serial && writer > latest) latest = writer;
    };
    for (const name of names) look(name);
    for (const { table } of ranges) look(tableName(table));
    return this.#requests.get(latest);
  }

  /** Notes what a request is expected to write, where `created` names the rows that were not there before. */
  expectWrites(request: RedRequest, effects: readonly Effect[], created: ReadonlySet<string>): void {
    request.expectedWrites = writtenNames(effects, created);
    this.comesLast(request);
  }

  /** Who comes now and reads what this one is expected to write finds it. */
  comesLast({ expectedWrites, submission }: RedRequest): void {
    for (const name of expectedWrites) this.#lastWriter.set(name, submission.serial);
  }

  /** Ends an operation that may be asked for again: no execution of it is to be taken for another one. */
  drop(request: RedRequest): readonly RedRequest[] {
    this.#attemptsDropped = Math.max(this.#attemptsDropped, request.attempt);
    return this.end(request);
  }

  /** Ends an operation; those that it gives may go on, in the order in which they came. */
  end(request: RedRequest): readonly RedRequest[] {
    const { serial } = request.submission;
    request.isOver = true;
    this.#requests.delete(serial);
    this.#tokenOf.delete(request.id);
    this.#clients.take(clientOf(request.id));
    if (request.askers.length === 0) this.#left -= 1;
    if (this.#joined.size > 0) for (const asker of request.askers) this.#joined.delete(asker.serial);
    for (const name of request.expectedWrites) {
      if (this.#lastWriter.get(name) === serial) this.#lastWriter.delete(name);
    }
    return takeAllBehind(request);
  }
}

/** What requests may wait for. */
export type Awaited = Pick<RedRequest, 'heirs'> & Partial<Pick<RedRequest, 'followers'>>;

/** Has a request wait for another one, among its followers or its heirs. */
export function waitFor(request: RedRequest, other: Awaited, as: 'followers' | 'heirs'): void {
  const waiting = (other[as] ??= new Fifo());
  // Who has been given up meanwhile is kept by nobody.
  waiting.keep(({ isOver }) => !isOver);
  waiting.push(request);
  request.holds += 1;
}

/** All who wait for a request, in the order in which they came. */
export function takeAllBehind(request: RedRequest): readonly RedRequest[] {
  const { followers, heirs } = request;
  if (followers === undefined && heirs === undefined) return [];
  request.followers = undefined;
  request.heirs = undefined;
  const all = [...(followers?.slice() ?? []), ...(heirs?.slice() ?? [])];
  return all.toSorted((a, b) => a.submission.serial - b.submission.serial);
}

/** Those who waited until a request was proposed. */
export function takeFollowers(request: RedRequest): readonly RedRequest[] {
  const followers = request.followers?.slice() ?? [];
  request.followers = undefined;
  return followers;
}
