/**
 * Keys of the log. A group stands at `/<deployment>/<generation>/red/<site>/<start>/<last>`: its
 * site's ordinal, the epoch of the start that has proposed it, and the number of its last record in
 * that start. A node that restarts knows how many records of a start it has, and so where to read
 * on, though it may have a part of a group only. The log of another partition than `main` has
 * `red-<ordinal>` instead of `red`.
 */
import type { Origin } from '../../service/records/origin.ts';
import type { EtcdKeyRange, EtcdLogPlace } from './etcd-requests.ts';

/** Digits of ordinals, and of epochs, numbers and positions: keys sort as their numbers do. */
const [SITE_DIGITS, NUMBER_DIGITS] = [6, 16];

export interface GroupName {
  readonly site: Origin;
  readonly start: number;
  readonly last: number;
}

export class EtcdKeys {
  readonly groups: EtcdKeyRange;
  /** How far the log was trimmed: the largest one counts. */
  readonly trims: EtcdKeyRange;
  /** All keys of all logs before the last `restore-red`. */
  readonly earlier: readonly EtcdKeyRange[];
  readonly #groupPrefix: string;
  readonly #trimPrefix: string;

  /** @param partition the ordinal of the partition whose log it is */
  constructor({ deployment, generation }: EtcdLogPlace, partition = 0) {
    const suffix = partition === 0 ? '' : `-${partition}`;
    this.#groupPrefix = `/${deployment}/${generation}/red${suffix}/`;
    this.#trimPrefix = `/${deployment}/${generation}/trimmed${suffix}/`;
    this.groups = {
      key: this.#groupPrefix,
      end: getPrefixEnd(this.#groupPrefix),
    };
    this.earlier = Array.from({ length: generation }, (_, number) => {
      const key = `/${deployment}/${number}/`;
      return { key, end: getPrefixEnd(key) };
    });
    this.trims = { key: this.#trimPrefix, end: getPrefixEnd(this.#trimPrefix) };
  }

  formatGroup(site: number, start: number, last: number): string {
    return `${this.#formatStart(site, start)}${formatNumber(last)}`;
  }

  /** Returns `undefined` if it is not the key of a group. */
  parseGroup(key: string): GroupName | undefined {
    const [site, start, last] = key.slice(this.#groupPrefix.length).split('/').map(Number);
    const numbers = [site, start, last];
    if (!key.startsWith(this.#groupPrefix) || !numbers.every(Number.isSafeInteger))
      return undefined;
    return {
      site: site as Origin,
      start: start as number,
      last: last as number,
    };
  }

  getSiteEnd(site: number): string {
    return getPrefixEnd(`${this.#groupPrefix}${String(site).padStart(SITE_DIGITS, '0')}/`);
  }

  getStartEnd(site: number, start: number): string {
    return getPrefixEnd(this.#formatStart(site, start));
  }

  formatTrim(position: number): string {
    return `${this.#trimPrefix}${formatNumber(position)}`;
  }

  parseTrim(key: string): number {
    return Number(key.slice(this.#trimPrefix.length));
  }

  #formatStart(site: number, start: number): string {
    return `${this.#groupPrefix}${String(site).padStart(SITE_DIGITS, '0')}/${formatNumber(start)}/`;
  }
}

function formatNumber(value: number): string {
  return String(value).padStart(NUMBER_DIGITS, '0');
}

/** The first key behind those that begin with a prefix, which ends with a slash. */
function getPrefixEnd(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}
