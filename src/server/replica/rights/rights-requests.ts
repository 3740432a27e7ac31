/**
 * What a site has asked others for and not been given yet, and what it has
 * given to those who asked.
 */
import type { Origin } from '../../records/origin.ts';
import type { RightsRequest } from '../../records/records.ts';

/** A bounded field of a row. */
export interface BoundedName {
  readonly table: string;
  readonly key: string;
  readonly field: string;
}

const SEPARATOR = '\u0000';

/**
 * Equal for one field alone: names of tables and fields have no separator in
 * them.
 */
export function formatFieldKey({ table, key, field }: BoundedName): string {
  return table + SEPARATOR + field + SEPARATOR + key;
}

/** Why rights are requested: for later use, or for an operation that waits. */
const REQUEST_TARGETS = ['later', 'here', 'pool'] as const;
export type RequestTarget = (typeof REQUEST_TARGETS)[number];

/**
 * A question that may be asked now: of those who have most, or of all, since
 * those did not answer.
 */
export type RequestMode = 'first' | 'again';

interface RequestTimeouts {
  /** A question is overdue after so long, */
  readonly resendAfterMs: number;
  /** and forgotten after so long. */
  readonly reachTimeoutMs: number;
}

/**
 * One request is in flight at a time. If nothing comes, more sites are asked.
 */
export class RightsRequests {
  readonly #times: RequestTimeouts;
  /**
   * By field and for what: when it was asked last, unless something has come
   * since. The latest stands last.
   */
  readonly #sentAtMs = new Map<string, number>();

  constructor(times: RequestTimeouts) {
    this.#times = times;
  }

  get size(): number {
    return this.#sentAtMs.size;
  }

  /** Whether it may be asked now: then it counts as asked. */
  takeTurn(
    name: BoundedName,
    description: RequestTarget,
    nowMs: number,
  ): RequestMode | undefined {
    if (this.isOpen(name, description, nowMs)) return undefined;
    const isSilent =
      this.#getSilentMs(name, description, nowMs) < this.#times.reachTimeoutMs;
    this.#evict(nowMs);
    this.#sentAtMs.delete(description + formatFieldKey(name));
    this.#sentAtMs.set(description + formatFieldKey(name), nowMs);
    return isSilent ? 'again' : 'first';
  }

  /** Whether it has been asked, and may still be answered. */
  isOpen(
    name: BoundedName,
    description: RequestTarget,
    nowMs: number,
  ): boolean {
    return (
      this.#getSilentMs(name, description, nowMs) < this.#times.resendAfterMs
    );
  }

  /** Rights of this field have arrived: operations that need more may retry. */
  onAnswered(name: BoundedName): void {
    for (const description of REQUEST_TARGETS)
      this.#sentAtMs.delete(description + formatFieldKey(name));
  }

  /** What was asked for so long ago that it makes no difference. */
  #evict(nowMs: number): void {
    const { resendAfterMs, reachTimeoutMs } = this.#times;
    for (const [requested, atMs] of this.#sentAtMs) {
      if (nowMs - atMs < Math.max(resendAfterMs, reachTimeoutMs)) return;
      this.#sentAtMs.delete(requested);
    }
  }

  #getSilentMs(
    name: BoundedName,
    description: RequestTarget,
    nowMs: number,
  ): number {
    return (
      nowMs -
      (this.#sentAtMs.get(description + formatFieldKey(name)) ?? -Infinity)
    );
  }
}

interface AnsweredRequest {
  /** Of the operation that gave it. */
  readonly stamp: number;
  readonly atMs: number;
}

/** What a site has given, for as long as an older request may still come. */
export class AnsweredRequests {
  readonly #retentionMs: number;
  /** By who asked, and by field: the latest stands last. */
  readonly #requests = new Map<Origin, Map<string, AnsweredRequest>>();

  /**
   * @param retentionMs how long an operation waits for a request, in
   * milliseconds
   */
  constructor(retentionMs: number) {
    this.#retentionMs = retentionMs;
  }

  get size(): number {
    let size = 0;
    for (const { size: ofOne } of this.#requests.values()) size += ofOne;
    return size;
  }

  /**
   * Whether the last answer is still on its way to who asks, and has seen all
   * up to this stamp.
   */
  isOnItsWay(
    from: Origin,
    field: string,
    seen: number,
    nowMs: number,
  ): boolean {
    this.#evict(from, seen, nowMs);
    return (this.#requests.get(from)?.get(field)?.stamp ?? 0) > seen;
  }

  add(from: Origin, field: string, answer: AnsweredRequest): void {
    const ofOne =
      this.#requests.get(from) ?? new Map<string, AnsweredRequest>();
    ofOne.delete(field);
    ofOne.set(field, answer);
    this.#requests.set(from, ofOne);
  }

  /**
   * What who asks has seen, but for what is so new that a question from before
   * it may come late.
   */
  #evict(from: Origin, seen: number, nowMs: number): void {
    const ofOne = this.#requests.get(from);
    for (const [field, { stamp, atMs }] of ofOne ?? []) {
      if (stamp > seen || nowMs - atMs < this.#retentionMs) return;
      ofOne?.delete(field);
    }
  }
}

/**
 * The number of fields with an early request at a time. Requests for others are
 * sent again.
 */
const MAX_FIELDS = 1024;

export interface EarlyRequest {
  readonly from: Origin;
  readonly request: RightsRequest;
  /** Up to where its sender showed the stream of this site. */
  readonly seenStamp: number;
  /** It is retried by then. */
  readonly untilMs: number;
}

/**
 * Requests that one site has not answered, since they came before the rights
 * that they want. The newest of each site and field is kept until it is resent.
 */
export class EarlyRequests {
  /**
   * By field, and by who asked; the field that was first asked for longest ago
   * stands first.
   */
  readonly #requests = new Map<string, Map<Origin, EarlyRequest>>();

  /**
   * Adds a request in place of the last one of its site, unless only that one
   * is for an operation that waits.
   */
  add(question: EarlyRequest): void {
    const { from, request } = question;
    const field = formatFieldKey(request);
    const ofField =
      this.#requests.get(field) ?? new Map<Origin, EarlyRequest>();
    if (
      request.target === undefined &&
      ofField.get(from)?.request.target !== undefined
    )
      return;
    ofField.set(from, question);
    this.#requests.set(field, ofField);
    const [oldest] = this.#requests.keys();
    if (this.#requests.size > MAX_FIELDS && oldest !== undefined)
      this.#requests.delete(oldest);
  }

  /** Takes out those about these fields that are not overdue. */
  takeForFields(
    fields: Iterable<string>,
    nowMs: number,
  ): readonly EarlyRequest[] {
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
      for (const [from, { untilMs }] of ofField)
        if (untilMs <= nowMs) ofField.delete(from);
      if (ofField.size === 0) this.#requests.delete(field);
    }
  }
}
