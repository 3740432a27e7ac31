/** What a site has given to those who asked for rights, for as long as a question that is older may still come. */
import type { Origin } from '../../records/origin.ts';

interface Answer {
  /** Of the operation that gave it. */
  readonly stamp: number;
  readonly atMs: number;
}

/** The last answers of one site. */
export class Answered {
  readonly #keptMs: number;
  /** By who asked, and by field: the latest stands last. */
  readonly #answers = new Map<Origin, Map<string, Answer>>();

  /** @param keptMs nobody waits any more for what was asked for so long ago */
  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  /** So many are remembered. */
  get size(): number {
    let size = 0;
    for (const { size: ofOne } of this.#answers.values()) size += ofOne;
    return size;
  }

  /** Whether the last answer is still on its way to who asks, and has seen all up to this stamp. */
  isOnItsWay(from: Origin, field: string, seen: number, nowMs: number): boolean {
    this.#forget(from, seen, nowMs);
    return (this.#answers.get(from)?.get(field)?.stamp ?? 0) > seen;
  }

  note(from: Origin, field: string, answer: Answer): void {
    const ofOne = this.#answers.get(from) ?? new Map<string, Answer>();
    ofOne.delete(field);
    ofOne.set(field, answer);
    this.#answers.set(from, ofOne);
  }

  /** What who asks has seen, but for what is so new that a question from before it may come late. */
  #forget(from: Origin, seen: number, nowMs: number): void {
    const ofOne = this.#answers.get(from);
    for (const [field, { stamp, atMs }] of ofOne ?? []) {
      if (stamp > seen || nowMs - atMs < this.#keptMs) return;
      ofOne?.delete(field);
    }
  }
}
