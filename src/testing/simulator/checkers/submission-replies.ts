/**
 * Checks that each submission has one end with a possible code. `CONFLICT` comes after exactly the
 * allowed executions.
 */
import type { Origin } from '../../../server/service/records/origin.ts';
import type { Conflict } from '../../../server/service/records/certification-result.ts';
import type { RedOperation } from '../../../server/service/records/records.ts';
import type { SimulationOptions } from '../options.ts';
import {
  assertProperty,
  type Checker,
  type ClientSubmission,
  type SubmissionEvent,
} from './checker.ts';

/** Possible failures beside those of generators, which the oracle checks. */
const READ_ERROR_CODES: ReadonlySet<string> = new Set([
  'OVERLOADED',
  'UNAVAILABLE',
  'REPLICA_BEHIND',
  'ABORTED',
]);
const WRITE_ERROR_CODES: ReadonlySet<string> = new Set([
  ...READ_ERROR_CODES,
  'UNKNOWN',
  'REPLY_EXPIRED',
  'CONFLICT',
]);

/**
 * Returns whether a failure with this code comes from the backend. Others come from a generator.
 */
export function isBackendError(code: string): boolean {
  return WRITE_ERROR_CODES.has(code);
}

type ReplyCheckerOptions = Pick<SimulationOptions, 'maxAttempts' | 'maxLogs'>;

export class ReplyChecker implements Checker {
  readonly name = 'answers';
  readonly #maxAttempts: number;
  readonly #hasSeveralLogs: boolean;
  readonly #submissions = new Map<string, ClientSubmission>();
  readonly #endedOperations = new Set<string>();
  /** Operations that were requested within a session, or at a second site. */
  readonly #inSessions = new Set<string>();
  readonly #sites = new Map<string, number>();
  readonly #movedOperations = new Set<string>();
  /**
   * The rejected executions of an operation by start of a site. Rejections because of an operation
   * that it depends on do not count.
   */
  readonly #rejected = new Map<string, Map<string, Set<number>>>();

  constructor({ maxAttempts, maxLogs }: ReplyCheckerOptions) {
    this.#maxAttempts = maxAttempts;
    this.#hasSeveralLogs = maxLogs > 1;
  }

  onSubmitted(submission: ClientSubmission): void {
    const { site, serial, id, sessionVector } = submission;
    this.#submissions.set(`${site}:${serial}`, submission);
    if (sessionVector !== undefined) this.#inSessions.add(id);
    if ((this.#sites.get(id) ?? site) !== site) this.#movedOperations.add(id);
    this.#sites.set(id, site);
  }

  onRejected(
    _site: Origin,
    { id, site, epoch, attempt }: RedOperation,
    conflict: Conflict | undefined,
  ): void {
    if (conflict?.reason === 'predecessor') return;
    const ofStarts = this.#rejected.get(id) ?? new Map<string, Set<number>>();
    this.#rejected.set(id, ofStarts);
    const start = `${site}:${epoch}`;
    ofStarts.set(start, (ofStarts.get(start) ?? new Set()).add(attempt));
  }

  onSubmissionEvent(reported: SubmissionEvent): void {
    const key = `${reported.site}:${reported.serial}`;
    const { id } = reported.operation;
    assertProperty(
      !this.#endedOperations.has(key),
      () => `${id} got ${reported.code ?? reported.stage} at site ${reported.site} after its end`,
    );
    if (reported.isEnd) this.#endedOperations.add(key);
    else this.#checkWeaker(reported, this.#submissions.get(key) as ClientSubmission);
    if (reported.code !== undefined && isBackendError(reported.code))
      this.#checkCode(reported, reported.code);
  }

  /** Checks that a preliminary or weak view was requested together with a stronger one. */
  #checkWeaker(
    { operation: { id }, stage, isRead }: SubmissionEvent,
    { wants }: ClientSubmission,
  ): void {
    const isWanted = isRead
      ? stage === 'causal' && wants.causal
      : stage === 'tentative' && wants.tentative;
    assertProperty(
      isWanted && wants.strong,
      () => `${id} got an answer at ${stage} that was not requested, or that should have ended it`,
    );
  }

  /** A strong read over several logs may be overtaken too often. */
  #mayReadFail(code: string): boolean {
    const mayBeOvertaken = this.#hasSeveralLogs && code === 'CONFLICT';
    return mayBeOvertaken || READ_ERROR_CODES.has(code);
  }

  #checkCode(
    { operation: { id }, isRead, stage, isAbandoned }: SubmissionEvent,
    code: string,
  ): void {
    assertProperty(
      stage === undefined,
      () => `${id} failed with ${code} at ${stage}, which no generator can`,
    );
    assertProperty(
      !isRead || this.#mayReadFail(code),
      () => `${id} only reads and failed with ${code}`,
    );
    if (code === 'ABORTED') {
      assertProperty(
        isAbandoned || this.#movedOperations.has(id),
        () => `${id} got ABORTED, and its client still waited there`,
      );
    } else if (code === 'REPLICA_BEHIND') {
      assertProperty(this.#inSessions.has(id), () => `${id} got REPLICA_BEHIND without a session`);
    } else if (code === 'CONFLICT' && !isRead) {
      const most = Math.max(
        0,
        ...[...(this.#rejected.get(id)?.values() ?? [])].map(({ size }) => size),
      );
      assertProperty(
        most >= this.#maxAttempts,
        () =>
          `${id} got CONFLICT after ${most} executions, of ${this.#maxAttempts} that it may have`,
      );
    }
  }
}
