/** What a site has given to those who asked for rights, for as long as a question that is older may still come. */
import type { Origin } from '../../records/origin.ts';

interface AnsweredRequest {
  /** Of the operation that gave it. */
  readonly stamp: number;
  readonly atMs: number;
}

export class AnsweredRequests {
  readonly #retentionMs: number;
  /** By who asked, and by field: the latest stands last. */
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

  /** Whether the last answer is still on its way to who asks, and has seen all up to this stamp. */
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

  /** What who asks has seen, but for what is so new that a question from before it may come late. */
  #evict(from: Origin, seen: number, nowMs: number): void {
    const ofOne = this.#requests.get(from);
    for (const [field, { stamp, atMs }] of ofOne ?? []) {
      if (stamp > seen || nowMs - atMs < this.#retentionMs) return;
      ofOne?.delete(field);
    }
  }
}
