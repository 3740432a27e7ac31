/**
 * Each submission is told one end, by a code that there can be; a level that fails ends nothing, and only where a stronger
 * one follows; and `CONFLICT` is told after as many executions as there may be, and not before.
 */
import type { Origin } from '../../../server/records/origin.ts';
import type { Conflict } from '../../../server/records/verdict.ts';
import type { RedOperation } from '../../../server/records/records.ts';
import { require, type Checker, type ClientSubmission, type Told } from './checker.ts';

/** Which failures there can be beside those of generators, which the oracle knows. */
const OF_READS: ReadonlySet<string> = new Set(['OVERLOADED', 'UNAVAILABLE', 'SESSION_BEHIND', 'ABORTED']);
const OF_UPDATES: ReadonlySet<string> = new Set([...OF_READS, 'UNKNOWN', 'EXPIRED_ID', 'CONFLICT']);

/** Whether a failure with this code is one of the backend: others are what a generator came to. */
export function isOfBackend(code: string): boolean {
  return OF_UPDATES.has(code);
}

export class AnswerChecker implements Checker {
  readonly name = 'answers';
  readonly #attemptsMax: number;
  readonly #submissions = new Map<string, ClientSubmission>();
  readonly #ended = new Set<string>();
  /** Operations that were ever asked for within a session, or at a second site. */
  readonly #inSessions = new Set<string>();
  readonly #sites = new Map<string, number>();
  readonly #moved = new Set<string>();
  /** By operation and start of a site: its executions that were rejected, and not for what they stood on. */
  readonly #rejected = new Map<string, Map<string, Set<number>>>();

  constructor(attemptsMax: number) {
    this.#attemptsMax = attemptsMax;
  }

  submitted(submission: ClientSubmission): void {
    const { site, serial, id, after } = submission;
    this.#submissions.set(`${site}:${serial}`, submission);
    if (after !== undefined) this.#inSessions.add(id);
    if ((this.#sites.get(id) ?? site) !== site) this.#moved.add(id);
    this.#sites.set(id, site);
  }

  rejected(_site: Origin, { id, site, epoch, attempt }: RedOperation, conflict: Conflict | undefined): void {
    if (conflict?.reason === 'predecessor') return;
    const ofStarts = this.#rejected.get(id) ?? new Map<string, Set<number>>();
    this.#rejected.set(id, ofStarts);
    const start = `${site}:${epoch}`;
    ofStarts.set(start, (ofStarts.get(start) ?? new Set()).add(attempt));
  }

  told(told: Told): void {
    const key = `${told.site}:${told.serial}`;
    const { id } = told.operation;
    require(!this.#ended.has(key), () =>
      `${id} was told ${told.code ?? told.stage} at site ${told.site} after its end`);
    if (told.isEnd) this.#ended.add(key);
    else this.#checkWeaker(told, this.#submissions.get(key) as ClientSubmission);
    if (told.code !== undefined && isOfBackend(told.code)) this.#checkCode(told, told.code);
  }

  /** A guess or a weak view comes where it is wanted, and so is a stronger one. */
  #checkWeaker({ operation: { id }, stage, isRead }: Told, { wants }: ClientSubmission): void {
    const isWanted = isRead ? stage === 'causal' && wants.causal : stage === 'tentative' && wants.tentative;
    require(isWanted && wants.strong, () =>
      `${id} was told at ${stage} what nobody asked for, or what should have ended it`);
  }

  #checkCode({ operation: { id }, isRead, stage, isGivenUp }: Told, code: string): void {
    require(stage === undefined, () => `${id} failed with ${code} at ${stage}, where no generator can`);
    require(!isRead || OF_READS.has(code), () => `${id} only reads and failed with ${code}`);
    if (code === 'ABORTED') {
      require(isGivenUp || this.#moved.has(id), () => `${id} was told ABORTED, and its client still waited there`);
    } else if (code === 'SESSION_BEHIND') {
      require(this.#inSessions.has(id), () => `${id} was told SESSION_BEHIND without a session`);
    } else if (code === 'CONFLICT') {
      const most = Math.max(0, ...[...(this.#rejected.get(id)?.values() ?? [])].map(({ size }) => size));
      require(most >= this.#attemptsMax, () =>
        `${id} was told CONFLICT after ${most} executions, of ${this.#attemptsMax} that it may have`);
    }
  }
}
