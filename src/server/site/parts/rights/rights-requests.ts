/**
 * Requests for rights: those of a site that were not answered, and those of other sites that it has
 * answered.
 */
import type { Origin } from '../../../service/records/origin.ts';
import type { RightsRequest } from '../../../service/records/records.ts';
import { DEFAULT_MACHINE_SIZES, type MachineSizes } from '../../../log/machine-sizes.ts';

/** A bounded field of a row. */
export interface BoundedName {
  readonly table: string;
  readonly key: string;
  readonly field: string;
}

const SEPARATOR = '\u0000';

/**
 * Returns a key that no other field has, because names of tables and fields contain no separator.
 */
export function formatFieldKey({ table, key, field }: BoundedName): string {
  return table + SEPARATOR + field + SEPARATOR + key;
}

/** Why rights are requested: for later use, or for an operation that waits. */
const REQUEST_TARGETS = ['later', 'here', 'pool'] as const;
export type RequestTarget = (typeof REQUEST_TARGETS)[number];

/** The sites that may be asked now: those that have most, or all, if the first did not answer. */
export type RequestMode = 'first' | 'again';

interface RequestTimeouts {
  /** After this time a request is overdue. */
  readonly resendAfterMs: number;
  /** After this time a request is forgotten. */
  readonly reachTimeoutMs: number;
}

/** Limits requests to one in flight. If it is not answered, more sites are asked. */
export class RightsRequests {
  readonly #times: RequestTimeouts;
  /**
   * By field and purpose: when rights were last requested. An answer removes the entry. The latest
   * one is at the end.
   */
  readonly #sentAtMs = new Map<string, number>();

  constructor(times: RequestTimeouts) {
    this.#times = times;
  }

  get size(): number {
    return this.#sentAtMs.size;
  }

  /** Returns which sites may be asked now, and counts them as asked. */
  takeTurn(name: BoundedName, description: RequestTarget, nowMs: number): RequestMode | undefined {
    if (this.isOpen(name, description, nowMs)) return undefined;
    const isSilent = this.#getSilentMs(name, description, nowMs) < this.#times.reachTimeoutMs;
    this.#evict(nowMs);
    this.#sentAtMs.delete(description + formatFieldKey(name));
    this.#sentAtMs.set(description + formatFieldKey(name), nowMs);
    return isSilent ? 'again' : 'first';
  }

  /** Whether rights were requested, and the request may still be answered. */
  isOpen(name: BoundedName, description: RequestTarget, nowMs: number): boolean {
    return this.#getSilentMs(name, description, nowMs) < this.#times.resendAfterMs;
  }

  /** Rights of this field have arrived: operations that need more may retry. */
  onAnswered(name: BoundedName): void {
    for (const description of REQUEST_TARGETS)
      this.#sentAtMs.delete(description + formatFieldKey(name));
  }

  /** Forgets requests that are so old that they make no difference. */
  #evict(nowMs: number): void {
    const { resendAfterMs, reachTimeoutMs } = this.#times;
    for (const [requested, atMs] of this.#sentAtMs) {
      if (nowMs - atMs < Math.max(resendAfterMs, reachTimeoutMs)) return;
      this.#sentAtMs.delete(requested);
    }
  }

  #getSilentMs(name: BoundedName, description: RequestTarget, nowMs: number): number {
    return nowMs - (this.#sentAtMs.get(description + formatFieldKey(name)) ?? -Infinity);
  }
}

interface AnsweredRequest {
  /** The stamp of the operation that gave the rights. */
  readonly stamp: number;
  readonly atMs: number;
}

/** The rights that a site has given, for as long as an older request may still come. */
export class AnsweredRequests {
  readonly #retentionMs: number;
  /** By requesting site and field. The latest one is at the end. */
  readonly #requests = new Map<Origin, Map<string, AnsweredRequest>>();

  /** @param retentionMs how long an operation waits for a request, in milliseconds */
  constructor(retentionMs: number) {
    this.#retentionMs = retentionMs;
  }

  get size(): number {
    let size = 0;
    for (const { size: ofOne } of this.#requests.values()) size += ofOne;
    return size;
  }

  /**
   * Whether the last answer is still on its way to the site, as the stamp that it has seen shows.
   */
  isOnItsWay(from: Origin, field: string, seen: number, nowMs: number): boolean {
    this.#evict(from, seen, nowMs);
    return (this.#requests.get(from)?.get(field)?.stamp ?? 0) > seen;
  }

  add(from: Origin, field: string, answer: AnsweredRequest): void {
    const ofOne = this.#requests.get(from) ?? new Map<string, AnsweredRequest>();
    ofOne.delete(field);
    ofOne.set(field, answer);
    this.#requests.set(from, ofOne);
  }

  /** Forgets answers that the site has seen, unless a request from before them may still come. */
  #evict(from: Origin, seen: number, nowMs: number): void {
    const ofOne = this.#requests.get(from);
    for (const [field, { stamp, atMs }] of ofOne ?? []) {
      if (stamp > seen || nowMs - atMs < this.#retentionMs) return;
      ofOne?.delete(field);
    }
  }
}

export interface EarlyRequest {
  readonly from: Origin;
  readonly request: RightsRequest;
  /** The stamp of this site's stream up to which the sender had seen it. */
  readonly seenStamp: number;
  /** When its sender sends it again. */
  readonly untilMs: number;
}

/**
 * Requests that came before the rights that they want, so that this site has not answered them. The
 * newest of each site and field is kept until it is sent again.
 */
export class EarlyRequests {
  /** By field and requesting site. The field with the oldest request comes first. */
  readonly #requests = new Map<string, Map<Origin, EarlyRequest>>();
  readonly #sizes: MachineSizes;

  constructor(sizes: MachineSizes = DEFAULT_MACHINE_SIZES) {
    this.#sizes = sizes;
  }

  /**
   * Adds a request in place of the last one of its site. It is dropped if only the last one is for
   * an operation that waits.
   */
  add(question: EarlyRequest): void {
    const { from, request } = question;
    const field = formatFieldKey(request);
    const ofField = this.#requests.get(field) ?? new Map<Origin, EarlyRequest>();
    if (request.target === undefined && ofField.get(from)?.request.target !== undefined) return;
    ofField.set(from, question);
    this.#requests.set(field, ofField);
    const [oldest] = this.#requests.keys();
    const { maxEarlyFields, onExceeded } = this.#sizes;
    if (this.#requests.size <= maxEarlyFields || oldest === undefined) return;
    onExceeded?.('maxEarlyFields');
    this.#requests.delete(oldest);
  }

  /** Takes the requests about these fields that are not overdue. */
  takeForFields(fields: Iterable<string>, nowMs: number): readonly EarlyRequest[] {
    if (this.#requests.size === 0) return [];
    const taken: EarlyRequest[] = [];
    for (const field of fields) {
      for (const item of this.#requests.get(field)?.values() ?? [])
        if (nowMs < item.untilMs) taken.push(item);
      this.#requests.delete(field);
    }
    return taken;
  }

  evict(nowMs: number): void {
    for (const [field, ofField] of this.#requests) {
      for (const [from, { untilMs }] of ofField) if (untilMs <= nowMs) ofField.delete(from);
      if (ofField.size === 0) this.#requests.delete(field);
    }
  }
}
