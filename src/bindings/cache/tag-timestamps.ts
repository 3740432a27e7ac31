/**
 * When something last happened to each tag. Tags are names of people and their
 * data, so only hashes are stored.
 */
import type { TagScope } from './tags.ts';

/**
 * As plain data that JSON keeps: digests of marks, the oldest first, and the
 * time of each; the floor counts for every mark.
 */
export interface TagTimestampsData {
  readonly floor: number;
  readonly tags: readonly string[];
  readonly times: readonly number[];
}

/**
 * When something last happened to each mark; what is forgotten counts for all.
 */
export class TagTimestamps {
  readonly #maxTags: number;
  readonly #timeByTag: Map<string, number>;
  #floor: number;

  constructor(
    maxMarks: number,
    { floor, tags, times }: TagTimestampsData = {
      floor: 0,
      tags: [],
      times: [],
    },
  ) {
    this.#maxTags = maxMarks;
    this.#floor = floor;
    this.#timeByTag = new Map(
      tags.map((mark, at) => [mark, times[at] ?? floor]),
    );
  }

  get data(): TagTimestampsData {
    return {
      floor: this.#floor,
      tags: [...this.#timeByTag.keys()],
      times: [...this.#timeByTag.values()],
    };
  }

  record(scope: TagScope, time: number): void {
    if (scope === undefined) {
      this.#timeByTag.clear();
      this.#floor = time;
      return;
    }
    for (const mark of scope.map(hashTag)) {
      this.#timeByTag.delete(mark);
      this.#timeByTag.set(mark, time);
    }
    this.#forgetOldest();
  }

  /**
   * Tells no marks apart any more: something may have happened to each when it
   * did to the last of them.
   */
  collapse(): void {
    this.#floor = Math.max(this.#floor, ...this.#timeByTag.values());
    this.#timeByTag.clear();
  }

  getLatestTime(marks: readonly string[]): number {
    let latest = this.#floor;
    if (this.#timeByTag.size === 0) return latest;
    for (const mark of marks)
      latest = Math.max(latest, this.#timeByTag.get(hashTag(mark)) ?? 0);
    return latest;
  }

  #forgetOldest(): void {
    for (const [mark, markedAt] of this.#timeByTag) {
      if (this.#timeByTag.size <= this.#maxTags) return;
      this.#timeByTag.delete(mark);
      this.#floor = Math.max(this.#floor, markedAt);
    }
  }
}

/**
 * A hash of 32 bits, which shows no text. If two texts share one, a view is
 * dropped that could have stayed.
 */
export function hashTag(text: string): string {
  let bits = 0x811c9dc5;
  for (let at = 0; at < text.length; at++)
    bits = Math.imul(bits ^ text.charCodeAt(at), 0x01000193);
  // What differs in its last letters alone has to differ everywhere.
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0).toString(36);
}
