/** The red operations of one site that are in flight. */
import type { CorrectableError } from '../../../../correctable/errors.ts';
import { SequenceMap } from '../../../../protocol/sequence-map.ts';
import { NameCounts } from '../../../collections/counts.ts';
import { Fifo } from '../../../collections/fifo.ts';
import type { Conflict } from '../../../records/certification-result.ts';
import type { Effect } from '../../../records/effect.ts';
import type { GeneratorOutcome } from '../../../generator/generator-runner.ts';
import {
  toTableName,
  findWrittenNames,
  type ReadSet,
} from '../../../generator/read-set.ts';
import { getClient } from '../../../records/operation-id.ts';
import type { OperationId, RedRecord } from '../../../records/records.ts';
import type { Submission } from '../../../records/submissions.ts';

export const NO_EFFECTS: readonly Effect[] = [];
const NO_WRITES: readonly string[] = [];

/**
 * The number of submissions of one operation that may wait. Earlier ones are
 * answered.
 */
const MAX_WAITERS = 4;

/** What came of a run on the stable snapshot. */
export interface StableRun {
  readonly outcome: GeneratorOutcome;
  /** What must be unchanged for it to stand. */
  readonly reads: ReadSet;
  /** Of the state that it ran on. */
  readonly version: number;
}

/** What a run may have seen of effects that lay under it. */
export interface EffectTrace {
  /** Rows that may be there by these effects alone. */
  readonly created: ReadonlySet<string>;
  readonly written: ReadonlySet<string>;
}

/**
 * An operation that is proposed and not decided, with what it will do: see
 * `pipeline.ts`.
 */
export interface PipelinedOperation {
  readonly request: RedRequest;
  readonly attempt: number;
  readonly effects: readonly Effect[];
  /** Rows that it brings in, as its record says. */
  readonly created: readonly string[] | undefined;
  /** What other operations may see of it. Built at the first request. */
  trace: EffectTrace | undefined;
  dependencies: readonly PipelinedOperation[];
  /** How many there are that stand on it themselves. */
  dependentCount: number;
  readonly version: number;
  /** Whether another operation has changed what it writes since then. */
  hasStateChanged: boolean;
  /** It is decided, or stands on what will not commit as it was. */
  isDropped: boolean;
}

export interface StartOptions {
  /** Whether it is not known to be red for ever yet. */
  readonly isUndecided: boolean;
  /** For how long it has waited for rights, as blue. */
  readonly rightsWaitedMs?: number | undefined;
}

/** A red operation of this site from its submission to its end. */
export class RedRequest {
  readonly id: OperationId;
  readonly submission: Submission;
  /**
   * Submissions of the same operation that wait for its end; the one that it
   * began with is the first.
   */
  readonly waiters: Submission[];
  /** Times that the generator has run for the log. */
  attempt: number;
  /**
   * How many of those do not count: rejections for what it stood on alone, and
   * numbers that begin above what was dropped.
   */
  uncountedRejections: number;
  /** The last record that was made for it, and whether that was proposed. */
  record: RedRecord | undefined = undefined;
  isProposed = false;
  /** What the last of them met. */
  conflict: Conflict | undefined = undefined;
  /**
   * When that was first: what it had to wait for the leader before does not
   * count.
   */
  rejectedAtMs: number | undefined = undefined;
  /** Since when it waits for rights, while it does. */
  rightsWaitSinceMs: number | undefined = undefined;
  /** For how long it has waited for rights before, as blue too. */
  rightsWaitedMs = 0;
  /**
   * What it still waits for before it is executed: its hand-over to be synced,
   * an earlier one to end.
   */
  blockers = 0;
  /**
   * The last run of its generator on the stable snapshot; none where it failed
   * before.
   */
  run: StableRun | undefined = undefined;
  preliminaryEffects: readonly Effect[] = NO_EFFECTS;
  /** What it is expected to write, until it is at its end. */
  expectedWrites: readonly string[] = NO_WRITES;
  /** Its last record, while that lies under the runs of later operations. */
  pipelined: PipelinedOperation | undefined = undefined;
  /** Whether it may read what an earlier one of this site writes. */
  canDepend = false;
  /**
   * It has waited once for one of another site, which was rejected: not again.
   */
  hasYielded = false;
  /**
   * Later operations that read what this one may write: they wait until it is
   * proposed, or lacks rights.
   */
  proposalWaiters: Fifo<RedRequest> | undefined = undefined;
  /** Those that wait until it has ended, or lacks rights. */
  endWaiters: Fifo<RedRequest> | undefined = undefined;
  /** Nothing of it is in flight any more. */
  isOver = false;
  /** Why it cannot be executed again, once that is so. */
  failure: CorrectableError | undefined = undefined;

  constructor(id: OperationId, submission: Submission, attempt: number) {
    this.id = id;
    this.submission = submission;
    this.waiters = [submission];
    this.attempt = attempt;
    this.uncountedRejections = attempt;
  }
}

/**
 * Red operations in flight, and the last writer of each name: what reads it
 * waits until it can stand on that.
 */
export class RedRequests {
  /**
   * By the serial of the submission that each began with: what maps let go of
   * is soon garbage if it is but a number.
   */
  readonly #requests = new SequenceMap<RedRequest>();
  readonly #serials = new Map<OperationId, number>();
  /** By the serial of a submission that asks for an operation in flight. */
  readonly #joinedSubmissions = new Map<number, OperationId>();
  readonly #clients = new NameCounts();
  #abandonedCount = 0;
  /** The largest number of an execution of what was dropped. */
  #attemptsDropped = 0;
  /** Serials too, by the name of what is written. */
  readonly #lastWriter = new Map<string, number>();

  get size(): number {
    return this.#requests.size;
  }

  get ids(): Iterable<OperationId> {
    return this.#serials.keys();
  }

  countByClient(client: string): number {
    return this.#clients.get(client);
  }

  get(id: OperationId): RedRequest | undefined {
    const serial = this.#serials.get(id);
    return serial === undefined ? undefined : this.#requests.get(serial);
  }

  /** The number of requests for which no caller waits. */
  get abandonedCount(): number {
    return this.#abandonedCount;
  }

  /** The operation that the submission of this serial waits for. */
  findBySubmission(serial: number): RedRequest | undefined {
    const id = this.#joinedSubmissions.get(serial);
    const request =
      this.#requests.get(serial) ??
      (id === undefined ? undefined : this.get(id));
    return request?.waiters.some((requester) => requester.serial === serial) ===
      true
      ? request
      : undefined;
  }

  /**
   * One more waits for the end of the operation; gives the one who waits no
   * longer, where they are too many.
   */
  join(request: RedRequest, submission: Submission): Submission | undefined {
    if (request.waiters.length === 0) this.#abandonedCount -= 1;
    request.waiters.push(submission);
    this.#joinedSubmissions.set(submission.serial, request.id);
    const [first] = request.waiters;
    return request.waiters.length > MAX_WAITERS && first !== undefined
      ? this.removeWaiter(request, first.serial)
      : undefined;
  }

  removeWaiter(request: RedRequest, serial: number): Submission | undefined {
    const at = request.waiters.findIndex(
      (requester) => requester.serial === serial,
    );
    this.#joinedSubmissions.delete(serial);
    if (at < 0) return undefined;
    if (request.waiters.length === 1) this.#abandonedCount += 1;
    return request.waiters.splice(at, 1)[0];
  }

  begin(id: OperationId, submission: Submission): RedRequest {
    const request = new RedRequest(id, submission, this.#attemptsDropped);
    this.#requests.set(submission.serial, request);
    this.#serials.set(id, submission.serial);
    this.#clients.increment(getClient(id));
    return request;
  }

  /**
   * The latest operation in flight that is expected to write something of
   * `reads`.
   */
  findLastWriter(
    { names, ranges }: ReadSet,
    except: RedRequest,
  ): RedRequest | undefined {
    let latest = 0;
    const look = (name: string): void => {
      const writer = this.#lastWriter.get(name) ?? 0;
      if (writer !== except.submission.serial && writer > latest)
        latest = writer;
    };
    for (const name of names) look(name);
    for (const { table } of ranges) look(toTableName(table));
    return this.#requests.get(latest);
  }

  /**
   * Notes what a request is expected to write, where `created` names the rows
   * that were not there before.
   */
  expectWrites(
    request: RedRequest,
    effects: readonly Effect[],
    created: ReadonlySet<string>,
  ): void {
    request.expectedWrites = findWrittenNames(effects, created);
    this.moveToLast(request);
  }

  /** Later requests that read what this one is expected to write find it. */
  moveToLast({ expectedWrites, submission }: RedRequest): void {
    for (const name of expectedWrites)
      this.#lastWriter.set(name, submission.serial);
  }

  /**
   * Ends an operation that may be asked for again: no execution of it is to be
   * taken for another one.
   */
  drop(request: RedRequest): readonly RedRequest[] {
    this.#attemptsDropped = Math.max(this.#attemptsDropped, request.attempt);
    return this.end(request);
  }

  /**
   * Ends an operation; those that it gives may go on, in the order in which
   * they came.
   */
  end(request: RedRequest): readonly RedRequest[] {
    const { serial } = request.submission;
    request.isOver = true;
    this.#requests.delete(serial);
    this.#serials.delete(request.id);
    this.#clients.decrement(getClient(request.id));
    if (request.waiters.length === 0) this.#abandonedCount -= 1;
    if (this.#joinedSubmissions.size > 0)
      for (const requester of request.waiters)
        this.#joinedSubmissions.delete(requester.serial);
    for (const name of request.expectedWrites) {
      if (this.#lastWriter.get(name) === serial) this.#lastWriter.delete(name);
    }
    return takeAllWaiters(request);
  }
}

export type WaitableRequests = Pick<RedRequest, 'endWaiters'> &
  Partial<Pick<RedRequest, 'proposalWaiters'>>;

/**
 * Has a request wait for another one, until it is proposed or until it ends.
 */
export function waitFor(
  request: RedRequest,
  other: WaitableRequests,
  as: 'proposalWaiters' | 'endWaiters',
): void {
  const waiting = (other[as] ??= new Fifo());
  // Requests that were given up meanwhile must not be retained.
  waiting.filter(({ isOver }) => !isOver);
  waiting.push(request);
  request.blockers += 1;
}

/** All who wait for a request, in the order in which they came. */
export function takeAllWaiters(request: RedRequest): readonly RedRequest[] {
  const { proposalWaiters, endWaiters } = request;
  if (proposalWaiters === undefined && endWaiters === undefined) return [];
  request.proposalWaiters = undefined;
  request.endWaiters = undefined;
  const all = [
    ...(proposalWaiters?.slice() ?? []),
    ...(endWaiters?.slice() ?? []),
  ];
  return all.toSorted((a, b) => a.submission.serial - b.submission.serial);
}

/** Those who waited until a request was proposed. */
export function takeProposalWaiters(
  request: RedRequest,
): readonly RedRequest[] {
  const followers = request.proposalWaiters?.slice() ?? [];
  request.proposalWaiters = undefined;
  return followers;
}
