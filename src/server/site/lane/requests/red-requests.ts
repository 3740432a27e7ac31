/** The red operations of one site that are in flight. */
import type { CorrectableError } from '../../../../correctable/errors.ts';
import { SequenceMap } from '../../../../protocol/sequence-map.ts';
import { NameCounts } from '../../../service/collections/counts.ts';
import { Fifo } from '../../../service/collections/fifo.ts';
import type { Conflict } from '../../../service/records/certification-result.ts';
import type { Effect } from '../../../service/records/effect.ts';
import type { GeneratorOutcome } from '../../../service/generator/generator-runner.ts';
import {
  toTableName,
  findWrittenNames,
  type ReadSet,
} from '../../../service/generator/read-set.ts';
import { getClient } from '../../core/operation-id.ts';
import type { ExecutionName, OperationId, RedRecord } from '../../../service/records/records.ts';
import type { Submission } from '../../core/submissions.ts';

export const NO_EFFECTS: readonly Effect[] = [];
const NO_WRITES: readonly string[] = [];

/** The number of submissions of one operation that may wait. Earlier ones are answered. */
const MAX_WAITERS = 4;

/** The outcome of a run on the stable snapshot. */
export interface StableRun {
  readonly outcome: GeneratorOutcome;
  /** The reads that must not change for the outcome to hold. */
  readonly reads: ReadSet;
  /** The version of the state that the generator ran on. */
  readonly version: number;
  /** The ordinals of other partitions with rows of it, if there are any. */
  readonly others?: readonly number[] | undefined;
}

/** The names by which later runs may have seen effects of an operation. */
export interface EffectTrace {
  /** Rows that may exist only by these effects. */
  readonly created: ReadonlySet<string>;
  readonly written: ReadonlySet<string>;
}

/** An operation that is proposed and not decided, with its effects: see `pipeline.ts`. */
export interface PipelinedOperation {
  readonly request: RedRequest;
  readonly attempt: number;
  readonly effects: readonly Effect[];
  /** Rows that it creates, as its record names them. */
  readonly created: readonly string[] | undefined;
  /** The names by which later runs may see it. They are created at the first use. */
  trace: EffectTrace | undefined;
  dependencies: readonly PipelinedOperation[];
  /** The number of operations that depend on it directly. */
  dependentCount: number;
  readonly version: number;
  /** Whether another operation has changed since then what it writes. */
  hasStateChanged: boolean;
  /** Whether it is decided, or depends on an operation that will not commit. */
  isDropped: boolean;
}

export interface StartOptions {
  /** Whether it may still turn out not to be red. */
  readonly isUndecided: boolean;
  /** How long it has waited for rights as a blue operation. Default: 0 */
  readonly rightsWaitedMs?: number | undefined;
}

/** A red operation of this site from its submission to its end. */
export class RedRequest {
  readonly id: OperationId;
  readonly submission: Submission;
  /** The ordinal of its home partition, whose red log decides it. */
  readonly partition: number;
  /**
   * Submissions of the operation that wait for its end. The first one is the submission that it
   * began with.
   */
  readonly waiters: Submission[];
  /** The number of times that the generator has run for the log. */
  attempt: number;
  /**
   * The number of attempts that do not count: those rejected only because of what they depended on,
   * and those of dropped requests.
   */
  uncountedRejections: number;
  /** The last record that was created for it, and whether it was proposed. */
  record: RedRecord | undefined = undefined;
  isProposed = false;
  /** The conflict of the last rejection. */
  conflict: Conflict | undefined = undefined;
  /** When it was first rejected. The time that it waited for the leader before does not count. */
  rejectedAtMs: number | undefined = undefined;
  /** When it was first rejected by a hold. */
  heldAtMs: number | undefined = undefined;
  /** The execution whose hold it waits for, while it does. */
  heldBy: ExecutionName | undefined = undefined;
  /** How often it was refused as a global. */
  refusals = 0;
  /** Since when it waits for rights, while it does. */
  rightsWaitSinceMs: number | undefined = undefined;
  /** How long it has waited for rights before, also as a blue operation. */
  rightsWaitedMs = 0;
  /**
   * The number of events that it waits for before it is executed, such as that its hand-over is
   * synced or that an earlier request ends.
   */
  blockers = 0;
  /** The last run of its generator on the stable snapshot. It is `undefined` if that failed. */
  run: StableRun | undefined = undefined;
  preliminaryEffects: readonly Effect[] = NO_EFFECTS;
  /** The names that it is expected to write, until it has ended. */
  expectedWrites: readonly string[] = NO_WRITES;
  /** Its last record, while later operations may depend on that. */
  pipelined: PipelinedOperation | undefined = undefined;
  /** Whether it may read what an earlier request of this site writes. */
  canDepend = false;
  /** Whether it has waited for an operation of another site. It does so once. */
  hasYielded = false;
  /**
   * Later requests that read what this one may write. They wait until it is proposed, or waits for
   * rights.
   */
  proposalWaiters: Fifo<RedRequest> | undefined = undefined;
  /** Requests that wait until it has ended, or waits for rights. */
  endWaiters: Fifo<RedRequest> | undefined = undefined;
  /** Whether it has ended, so that nothing of it is in flight. */
  isOver = false;
  /** Why it cannot be executed again, if so. */
  failure: CorrectableError | undefined = undefined;

  constructor(
    id: OperationId,
    submission: Submission,
    { partition, attempt }: { partition: number; attempt: number },
  ) {
    this.id = id;
    this.partition = partition;
    this.submission = submission;
    this.waiters = [submission];
    this.attempt = attempt;
    this.uncountedRejections = attempt;
  }
}

/** The number of requests of one home partition. */
export interface RequestCounts {
  size: number;
  /** Those for which no caller waits. */
  abandonedCount: number;
}

/**
 * Red requests in flight, and the last writer of each name. A request that reads a name waits until
 * it can depend on the writer.
 */
export class RedRequests {
  /**
   * By the serial of the submission that each began with. The key is a number because deleted
   * string keys stay in memory for longer.
   */
  readonly #requests = new SequenceMap<RedRequest>();
  readonly #serials = new Map<OperationId, number>();
  /** The operation in flight that a later submission waits for, by its serial. */
  readonly #joinedSubmissions = new Map<number, OperationId>();
  readonly #clients = new NameCounts();
  /** By the ordinal of the partition. */
  readonly #counts: RequestCounts[] = [];
  /** The greatest attempt of a request that was dropped. */
  #attemptsDropped = 0;
  /** The serial of the last writer by written name. */
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

  /** The number of requests whose home is this partition. It changes. */
  countsOf(partition: number): RequestCounts {
    return (this.#counts[partition] ??= { size: 0, abandonedCount: 0 });
  }

  /** Returns the request that the submission of this serial waits for. */
  findBySubmission(serial: number): RedRequest | undefined {
    const id = this.#joinedSubmissions.get(serial);
    const request = this.#requests.get(serial) ?? (id === undefined ? undefined : this.get(id));
    return request?.waiters.some((requester) => requester.serial === serial) === true
      ? request
      : undefined;
  }

  /**
   * One more submission waits for the end of the request. If too many wait, returns the one that
   * waits no longer.
   */
  join(request: RedRequest, submission: Submission): Submission | undefined {
    if (request.waiters.length === 0) this.countsOf(request.partition).abandonedCount -= 1;
    request.waiters.push(submission);
    this.#joinedSubmissions.set(submission.serial, request.id);
    const [first] = request.waiters;
    return request.waiters.length > MAX_WAITERS && first !== undefined
      ? this.removeWaiter(request, first.serial)
      : undefined;
  }

  removeWaiter(request: RedRequest, serial: number): Submission | undefined {
    const at = request.waiters.findIndex((requester) => requester.serial === serial);
    this.#joinedSubmissions.delete(serial);
    if (at < 0) return undefined;
    if (request.waiters.length === 1) this.countsOf(request.partition).abandonedCount += 1;
    return request.waiters.splice(at, 1)[0];
  }

  /** @param partition the ordinal of its home */
  begin(id: OperationId, submission: Submission, partition: number): RedRequest {
    const attempt = this.#attemptsDropped;
    const request = new RedRequest(id, submission, { partition, attempt });
    this.countsOf(partition).size += 1;
    this.#requests.set(submission.serial, request);
    this.#serials.set(id, submission.serial);
    this.#clients.increment(getClient(id));
    return request;
  }

  /** Returns the latest request that is expected to write something of `reads`. */
  findLastWriter({ names, ranges }: ReadSet, except: RedRequest): RedRequest | undefined {
    let latest = 0;
    const look = (name: string): void => {
      const writer = this.#lastWriter.get(name) ?? 0;
      if (writer !== except.submission.serial && writer > latest) latest = writer;
    };
    for (const name of names) look(name);
    for (const { table } of ranges) look(toTableName(table));
    return this.#requests.get(latest);
  }

  /**
   * Notes what a request is expected to write. `created` names the rows that did not exist before.
   */
  expectWrites(
    request: RedRequest,
    effects: readonly Effect[],
    created: ReadonlySet<string>,
  ): void {
    request.expectedWrites = findWrittenNames(effects, created);
    this.moveToLast(request);
  }

  /** Makes the request the last writer of the names that it is expected to write. */
  moveToLast({ expectedWrites, submission }: RedRequest): void {
    for (const name of expectedWrites) this.#lastWriter.set(name, submission.serial);
  }

  /**
   * Ends a request that may be submitted again. Its attempts must not be taken for those of the
   * next request.
   */
  drop(request: RedRequest): readonly RedRequest[] {
    this.#attemptsDropped = Math.max(this.#attemptsDropped, request.attempt);
    return this.end(request);
  }

  /** Ends a request. Returns the requests that may go on, in the order in which they came. */
  end(request: RedRequest): readonly RedRequest[] {
    const { serial } = request.submission;
    request.isOver = true;
    this.#requests.delete(serial);
    this.#serials.delete(request.id);
    this.#clients.decrement(getClient(request.id));
    const counts = this.countsOf(request.partition);
    counts.size -= 1;
    if (request.waiters.length === 0) counts.abandonedCount -= 1;
    if (this.#joinedSubmissions.size > 0)
      for (const requester of request.waiters) this.#joinedSubmissions.delete(requester.serial);
    for (const name of request.expectedWrites) {
      if (this.#lastWriter.get(name) === serial) this.#lastWriter.delete(name);
    }
    return takeAllWaiters(request);
  }
}

/** An operation of this site, or of another one, for which requests may wait. */
export interface WaitableRequests {
  endWaiters: Fifo<RedRequest> | undefined;
  proposalWaiters?: Fifo<RedRequest> | undefined;
}

/** Lets a request wait for another one, until that is proposed or has ended. */
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

/** Takes all requests that wait for this one, in the order in which they came. */
export function takeAllWaiters(request: RedRequest): readonly RedRequest[] {
  const { proposalWaiters, endWaiters } = request;
  if (proposalWaiters === undefined && endWaiters === undefined) return [];
  request.proposalWaiters = undefined;
  request.endWaiters = undefined;
  const all = [...(proposalWaiters?.slice() ?? []), ...(endWaiters?.slice() ?? [])];
  return all.toSorted((a, b) => a.submission.serial - b.submission.serial);
}

/** Takes the requests that waited until this one was proposed. */
export function takeProposalWaiters(request: RedRequest): readonly RedRequest[] {
  const followers = request.proposalWaiters?.slice() ?? [];
  request.proposalWaiters = undefined;
  return followers;
}
