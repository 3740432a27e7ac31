/**
 * The history of what clients saw, and the counts that can be computed from it: views that differ,
 * and final views that lack a write acknowledged before. All clients share the clock of one
 * machine, so its times order the events of different clients.
 */

/** The fields of a record, each as the tag of its value; null for a field without a value. */
export type Tags = readonly (string | null)[];

export interface WriteEvent {
  readonly kind: 'write';
  readonly client: string;
  readonly key: string;
  readonly field: number;
  readonly tag: string;
  /** Milliseconds of a clock that all clients share. */
  readonly beganMs: number;
  /** When the operation was acknowledged. */
  readonly endedMs: number;
}

export interface ReadEvent {
  readonly kind: 'read';
  readonly client: string;
  readonly key: string;
  readonly beganMs: number;
  readonly endedMs: number;
  /** Absent if there was no preliminary view. */
  readonly preliminary?: Tags | undefined;
  readonly final: Tags;
}

export type HistoryEvent = WriteEvent | ReadEvent;

export interface Counts {
  readonly reads: number;
  /** Reads with a preliminary view. */
  readonly preliminaries: number;
  /** Reads whose preliminary view differed from the final one. */
  readonly diverged: number;
  /** Reads whose final view lacks a write that was acknowledged before the read began. */
  readonly staleFinals: number;
  /** The same count for preliminary views. */
  readonly stalePreliminaries: number;
}

/** Computes the counts from a history. Anyone can repeat that from the history file. */
export function count(history: readonly HistoryEvent[]): Counts {
  const isStale = staleness(history.filter((event) => event.kind === 'write'));
  const reads = history.filter((event) => event.kind === 'read');
  const early = reads.filter(({ preliminary }) => preliminary !== undefined);
  return {
    reads: reads.length,
    preliminaries: early.length,
    diverged: early.filter(({ preliminary, final }) => !isSame(preliminary ?? [], final)).length,
    staleFinals: reads.filter((read) => isStale(read, read.final)).length,
    stalePreliminaries: early.filter((read) => isStale(read, read.preliminary ?? [])).length,
  };
}

function isSame(some: Tags, others: Tags): boolean {
  return some.length === others.length && some.every((tag, field) => tag === others[field]);
}

/**
 * The writes of one field in the order of their acknowledgements, each with the latest begin among
 * the writes up to it.
 */
interface Timeline {
  readonly endedMs: number[];
  readonly latestBeganMs: number[];
}

/**
 * Returns a function that checks whether a view of a read is stale: it has a value that was
 * overwritten by a write which began after that value was acknowledged, and which was itself
 * acknowledged before the read began. Writes at the same time may come in any order.
 */
function staleness(writes: readonly WriteEvent[]): (read: ReadEvent, view: Tags) => boolean {
  const timelines = new Map<string, Timeline>();
  const endedMs = new Map<string, number>();
  for (const write of [...writes].sort((a, b) => a.endedMs - b.endedMs)) {
    const place = `${write.key}/${write.field}`;
    const timeline = timelines.get(place) ?? { endedMs: [], latestBeganMs: [] };
    timelines.set(place, timeline);
    timeline.endedMs.push(write.endedMs);
    timeline.latestBeganMs.push(
      Math.max(write.beganMs, timeline.latestBeganMs.at(-1) ?? -Infinity),
    );
    endedMs.set(`${place}/${write.tag}`, write.endedMs);
  }
  return ({ key, beganMs }, view) =>
    view.some((tag, field) => {
      const timeline = timelines.get(`${key}/${field}`);
      const known = timeline === undefined ? -1 : lastBelow(timeline.endedMs, beganMs);
      if (timeline === undefined || known < 0) return false;
      // A value that no acknowledged write of this history has written was there before it, unless
      // its writer got no answer.
      const seenMs =
        endedMs.get(`${key}/${field}/${tag}`) ?? (isLoaded(tag) ? -Infinity : Infinity);
      return (timeline.latestBeganMs[known] as number) > seenMs;
    });
}

/** The tag of all values that were loaded before the measurement. */
export const LOADED = 'loaded';

function isLoaded(tag: string | null): boolean {
  return tag === LOADED || tag === null;
}

/** Returns the index of the last number below `limit` in ascending numbers, or -1. */
function lastBelow(ascending: readonly number[], limit: number): number {
  let [from, to] = [0, ascending.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((ascending[middle] as number) < limit) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}
