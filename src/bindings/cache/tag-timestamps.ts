/**
 * The last time of an event for each tag. Tags contain names of people and their data, so only
 * hashes are stored.
 */
import type { TagScope } from './tags.ts';

/**
 * Plain data for JSON: hashes of tags with their times, the oldest first. The minimum time applies
 * to every tag.
 */
export interface TagTimestampsData {
  readonly floor: number;
  readonly tags: readonly string[];
  readonly times: readonly number[];
}

/** The last time of an event for each tag. The time of a forgotten tag counts for all tags. */
export class TagTimestamps {
  readonly #maxTags: number;
  readonly #timeByTag: Map<string, number>;
  #minTime: number;

  constructor(
    maxTags: number,
    { floor, tags, times }: TagTimestampsData = {
      floor: 0,
      tags: [],
      times: [],
    },
  ) {
    this.#maxTags = maxTags;
    this.#minTime = floor;
    this.#timeByTag = new Map(tags.map((tag, at) => [tag, times[at] ?? floor]));
  }

  get data(): TagTimestampsData {
    return {
      floor: this.#minTime,
      tags: [...this.#timeByTag.keys()],
      times: [...this.#timeByTag.values()],
    };
  }

  record(scope: TagScope, time: number): void {
    if (scope === undefined) {
      this.#timeByTag.clear();
      this.#minTime = time;
      return;
    }
    for (const tag of scope.map(hashTag)) {
      this.#timeByTag.delete(tag);
      this.#timeByTag.set(tag, time);
    }
    this.#forgetOldest();
  }

  /** Drops all tags. From now on the latest of their times applies to every tag. */
  collapse(): void {
    this.#minTime = Math.max(this.#minTime, ...this.#timeByTag.values());
    this.#timeByTag.clear();
  }

  getLatestTime(tags: readonly string[]): number {
    let latest = this.#minTime;
    if (this.#timeByTag.size === 0) return latest;
    for (const tag of tags) latest = Math.max(latest, this.#timeByTag.get(hashTag(tag)) ?? 0);
    return latest;
  }

  #forgetOldest(): void {
    for (const [tag, timeOfTag] of this.#timeByTag) {
      if (this.#timeByTag.size <= this.#maxTags) return;
      this.#timeByTag.delete(tag);
      this.#minTime = Math.max(this.#minTime, timeOfTag);
    }
  }
}

/**
 * Returns a hash of 32 bits, which reveals no text. If two texts have the same hash, a view may be
 * dropped that could have stayed.
 */
export function hashTag(text: string): string {
  let bits = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) bits = Math.imul(bits ^ text.charCodeAt(at), 0x01000193);
  // Mix the bits, so that texts that differ only in their last characters differ in many bits of
  // the hash.
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0).toString(36);
}
