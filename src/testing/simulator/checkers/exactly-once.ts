/**
 * An operation takes effect once at every site, or not at all; what its client was told fits that, and whoever asks again
 * is told the same.
 */
import type { Origin, Origins } from '../../../server/records/origin.ts';
import { toText } from '../../../server/storage/format/values.ts';
import type { ClientOperation, History } from '../history.ts';
import { SiteChecker, require, type AnyOperation, type FinalState } from './checker.ts';

/** Notes how often each site shows an operation. */
export class ExactlyOnceChecker extends SiteChecker<Map<string, number>> {
  readonly name = 'exactly once';
  readonly #sites: Origins['sites'];

  constructor(origins: Origins) {
    super(origins, (saved) => new Map(saved));
    this.#sites = origins.sites;
  }

  applied(site: Origin, { id, effects }: AnyOperation): void {
    if (effects.length === 0) return;
    const times = this.at(site);
    times.set(id, (times.get(id) ?? 0) + 1);
    require(times.get(id) === 1, () => `${id} took effect twice at site ${site}`);
  }

  finished({ history }: FinalState): void {
    for (const operation of history.operations) if (!history.isRead(operation)) this.#check(operation, history);
  }

  #check(operation: ClientOperation, history: History): void {
    const { id, answers, failures, error } = operation;
    const isShown = this.#sites.some((site) => this.at(site).has(id));
    require(error === undefined || error === 'UNKNOWN' || !isShown, () =>
      `${id} was told to have failed (${error}) and took effect`);
    require(operation.isSureNot !== true || !isShown, () =>
      `${id} was told that nothing was done, was not asked for again, and took effect`);
    require(error !== 'EXPIRED_ID', () => `${id} was said to have expired, and its client had not acknowledged it`);
    const told = [...answers.map(({ value }) => toText(value)), ...failures];
    require(new Set(told).size <= 1, () => `${id} was answered ${told.join(', then ')}`);
    const isNone = answers.length > 0 && !history.tookEffect(operation);
    require(!(isNone && isShown), () => `${operation.operation} ${id} was answered ${told[0]} and took effect`);
  }
}
