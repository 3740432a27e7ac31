/**
 * An operation takes effect once at every site, or not at all; what its client was told fits that, and whoever asks again
 * is told the same.
 */
import type { Origin, Origins } from '../../../server/records/origin.ts';
import { toText } from '../../../server/storage/format/values.ts';
import type { ClientOperation, History } from '../history.ts';
import { require, type AnyOperation, type Checker, type FinalState } from './checker.ts';

export class ExactlyOnceChecker implements Checker {
  readonly name = 'exactly once';
  /** How often each site shows an operation. */
  readonly #times: Map<string, number>[];

  constructor(origins: Origins) {
    this.#times = Array.from({ length: origins.size }, () => new Map<string, number>());
  }

  started(site: Origin, saved?: ReadonlyMap<string, number>): void {
    this.#times[site] = new Map(saved);
  }

  save(site: Origin): ReadonlyMap<string, number> {
    return new Map(this.#times[site]);
  }

  applied(site: Origin, { id, effects }: AnyOperation): void {
    if (effects.length === 0) return;
    const times = this.#times[site] as Map<string, number>;
    times.set(id, (times.get(id) ?? 0) + 1);
    require(times.get(id) === 1, () => `${id} took effect twice at site ${site}`);
  }

  finished({ history }: FinalState): void {
    for (const operation of history.operations) if (!history.isRead(operation)) this.#check(operation, history);
  }

  #check(operation: ClientOperation, history: History): void {
    const { id, answers, failures, error } = operation;
    const isShown = this.#times.some((times) => times.has(id));
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
