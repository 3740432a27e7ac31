/** The red operations of one site that are under way. */
import type { CorrectableError } from '../../correctable/errors.ts';
import { NumberedTable } from '../../protocol/numbered-table.ts';
import type { Conflict } from './certifier.ts';
import type { Effect } from './effect.ts';
import type { GeneratorOutcome } from './generator-run.ts';
import { tableName, writtenNames } from './read-set.ts';
import type { ReadSet } from './read-set.ts';
import type { OperationId, RedRecord } from './records.ts';
import type { Submission } from './replica-port.ts';

export const NO_EFFECTS: readonly Effect[] = [];

/** What came of a run on the stable snapshot. */
export interface StableRun {
  readonly outcome: GeneratorOutcome;
  /** What must be unchanged for it to stand. */
  readonly reads: ReadSet;
  /** Of the state that it ran on. */
  readonly version: number;
}

/** A red operation of this site from its submission to its end. */
export interface RedRequest {
  readonly id: OperationId;
  readonly submission: Submission;
  /** Submissions of the same operation that wait for its end; the one that it began with is the first. */
  readonly askers: Submission[];
  /** Tokens of those of them that nobody waits for any more. */
  readonly gone: Set<number>;
  /** Times that the generator has run for the log. */
  attempt: number;
  /** The last record that was made for it, and whether that was proposed. */
  record: RedRecord | undefined;
  isProposed: boolean;
  /** What the last of them met. */
  conflict: Conflict | undefined;
  /** What it still waits for before it is executed: its hand-over to be synced, an earlier one to end. */
  holds: number;
  /** The last run of its generator on the stable snapshot; none where it failed before. */
  run: StableRun | undefined;
  /** What it has laid on the overlay. */
  previewed: readonly Effect[];
  /** What it is expected to write, until it is at its end. */
  expectedWrites: readonly string[];
  /** Later operations of this site that read what this one is expected to write. */
  readonly followers: RedRequest[];
  /** Why it cannot be executed again, once that is so. */
  failure?: CorrectableError;
}

/**
 * Red operations under way, by identifier, and who is last to write what: an operation that reads what an earlier one of
 * the same site is about to write waits for it here, since the red order would only send it back.
 */
export class RedRequests {
  /** By the token of the submission that each began with: what maps let go of is soon garbage if it is but a number. */
  readonly #requests = new NumberedTable<RedRequest>();
  readonly #tokenOf = new Map<OperationId, number>();
  /** By the tokens of submissions that asked for an operation that had begun. */
  readonly #joined = new Map<number, RedRequest>();
  /** Requests whose askers have all gone. */
  #left = 0;
  /** Tokens too, by the name of what is written. */
  readonly #lastWriter = new Map<string, number>();

  get size(): number {
    return this.#requests.size;
  }

  get ids(): Iterable<OperationId> {
    return this.#tokenOf.keys();
  }

  get(id: OperationId): RedRequest | undefined {
    const token = this.#tokenOf.get(id);
    return token === undefined ? undefined : this.#requests.get(token);
  }

  /** How many there are that nobody waits for. */
  get left(): number {
    return this.#left;
  }

  /** Another submission asks for an operation that has begun. */
  join(request: RedRequest, submission: Submission): void {
    if (isLeft(request)) this.#left -= 1;
    request.askers.push(submission);
    this.#joined.set(submission.token, request);
  }

  /** Nobody waits for the submission of this token any more: gives its operation if nobody else waits for that either. */
  leave(token: number): RedRequest | undefined {
    const request = this.#requests.get(token) ?? this.#joined.get(token);
    if (request === undefined || request.gone.has(token)) return undefined;
    request.gone.add(token);
    if (!isLeft(request)) return undefined;
    this.#left += 1;
    return request;
  }

  begin(id: OperationId, submission: Submission): RedRequest {
    const request: RedRequest = {
      id,
      submission,
      askers: [submission],
      gone: new Set(),
      attempt: 0,
      record: undefined,
      isProposed: false,
      conflict: undefined,
      holds: 0,
      run: undefined,
      previewed: NO_EFFECTS,
      expectedWrites: [],
      followers: [],
    };
    this.#requests.set(submission.token, request);
    this.#tokenOf.set(id, submission.token);
    return request;
  }

  /** The latest operation under way that is expected to write something of `reads`. */
  writerOf({ names, ranges }: ReadSet, except: RedRequest): RedRequest | undefined {
    let latest = 0;
    const look = (name: string): void => {
      const writer = this.#lastWriter.get(name) ?? 0;
      if (writer !== except.submission.token && writer > latest) latest = writer;
    };
    for (const name of names) look(name);
    for (const { table } of ranges) look(tableName(table));
    return this.#requests.get(latest);
  }

  /** Notes what a request is expected to write, where `created` names the rows that were not there before. */
  expectWrites(request: RedRequest, effects: readonly Effect[], created: ReadonlySet<string>): void {
    request.expectedWrites = writtenNames(effects, created);
    for (const name of request.expectedWrites) this.#lastWriter.set(name, request.submission.token);
  }

  /** Ends an operation; its followers may go on. */
  end(request: RedRequest): readonly RedRequest[] {
    const { token } = request.submission;
    this.#requests.delete(token);
    this.#tokenOf.delete(request.id);
    if (isLeft(request)) this.#left -= 1;
    for (const asker of request.askers) this.#joined.delete(asker.token);
    for (const name of request.expectedWrites) {
      if (this.#lastWriter.get(name) === token) this.#lastWriter.delete(name);
    }
    return request.followers;
  }
}

function isLeft({ askers, gone }: RedRequest): boolean {
  return gone.size === askers.length;
}
