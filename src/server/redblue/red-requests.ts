/** The red operations of one site that are under way. */
import type { CorrectableError } from '../../correctable/errors.ts';
import type { Effect } from './effect.ts';
import { tableName, writtenNames } from './read-set.ts';
import type { ReadSet } from './read-set.ts';
import type { OperationId } from './records.ts';
import type { Submission } from './replica-port.ts';

/** A red operation of this site from its submission to its end. */
export interface RedRequest {
  readonly id: OperationId;
  readonly submission: Submission;
  /** Submissions of the same operation that wait for its end. */
  readonly askers: Submission[];
  /** Times that the generator has run for the log. */
  attempt: number;
  /** What it still waits for before it is executed: its hand-over to be synced, an earlier one to end. */
  holds: number;
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
  readonly #byId = new Map<OperationId, RedRequest>();
  readonly #lastWriter = new Map<string, RedRequest>();

  get size(): number {
    return this.#byId.size;
  }

  get(id: OperationId): RedRequest | undefined {
    return this.#byId.get(id);
  }

  begin(id: OperationId, submission: Submission): RedRequest {
    const request: RedRequest = {
      id,
      submission,
      askers: [submission],
      attempt: 0,
      holds: 0,
      expectedWrites: [],
      followers: [],
    };
    this.#byId.set(id, request);
    return request;
  }

  /** The latest operation under way that is expected to write something of `reads`. */
  writerOf({ names, ranges }: ReadSet, except: RedRequest): RedRequest | undefined {
    let latest: RedRequest | undefined;
    const look = (name: string): void => {
      const writer = this.#lastWriter.get(name);
      if (writer === undefined || writer === except) return;
      if (latest === undefined || writer.submission.token > latest.submission.token) latest = writer;
    };
    for (const name of names) look(name);
    for (const { table } of ranges) look(tableName(table));
    return latest;
  }

  /** Notes what a request is expected to write, where `created` names the rows that were not there before. */
  expectWrites(request: RedRequest, effects: readonly Effect[], created: ReadonlySet<string>): void {
    request.expectedWrites = writtenNames(effects, created);
    for (const name of request.expectedWrites) this.#lastWriter.set(name, request);
  }

  /** Ends an operation; its followers may go on. */
  end(request: RedRequest): readonly RedRequest[] {
    this.#byId.delete(request.id);
    for (const name of request.expectedWrites) {
      if (this.#lastWriter.get(name) === request) this.#lastWriter.delete(name);
    }
    return request.followers;
  }
}
