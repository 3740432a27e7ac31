/**
 * Checks that an operation takes effect once at every site, or nowhere. Replies match that, and
 * retries get the same reply.
 */
import type { Origin } from '../../../server/service/records/origin.ts';
import { encodeValue } from '../../../server/node/storage/format/value-text.ts';
import type { ClientOperation, History } from '../history.ts';
import { SiteChecker, assertProperty, type AnyOperation, type FinalState } from './checker.ts';

export class ExactlyOnceChecker extends SiteChecker<Map<string, number>> {
  readonly name = 'exactly once';
  readonly holdsAfterLoss = true;
  /** Whether the outcome of a red operation may be lost, and then be another. */
  readonly #isLossy: boolean;

  constructor(isLossy: boolean) {
    super((saved) => new Map(saved));
    this.#isLossy = isLossy;
  }

  onApplied(site: Origin, { id, effects }: AnyOperation): void {
    if (effects.length === 0) return;
    const times = this.getState(site);
    times.set(id, (times.get(id) ?? 0) + 1);
    assertProperty(times.get(id) === 1, () => `${id} took effect twice at site ${site}`);
  }

  onFinished({ history, sites, lost }: FinalState): void {
    if (this.#isLossy) return;
    const all = [...sites.map(({ site }) => site), ...lost];
    for (const operation of history.operations)
      if (!history.traits.isRead(operation)) this.#check(operation, history, all);
  }

  #check(operation: ClientOperation, history: History, sites: readonly Origin[]): void {
    const { id, replies, failures, error } = operation;
    const isShown = sites.some((site) => this.getState(site).has(id));
    assertProperty(
      error === undefined || error === 'UNKNOWN' || !isShown,
      () => `${id} was reported as failed (${error}) and took effect`,
    );
    assertProperty(
      operation.isCertainlyNotApplied !== true || !isShown,
      () => `${id} was reported as not done, was not retried, and took effect`,
    );
    assertProperty(
      error !== 'REPLY_EXPIRED',
      () => `${id} was reported as expired, and its client had not acknowledged it`,
    );
    const reported = [...replies.map(({ value }) => encodeValue(value)), ...failures];
    assertProperty(
      new Set(reported).size <= 1,
      () => `${id} was answered ${reported.join(', then ')}`,
    );
    const isNone = replies.length > 0 && !history.traits.hasEffect(operation);
    assertProperty(
      !(isNone && isShown),
      () => `${operation.operation} ${id} was answered ${reported[0]} and took effect`,
    );
  }
}
