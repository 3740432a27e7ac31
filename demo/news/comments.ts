/** The comments on a story: where they are stored, and how they are arranged to a thread. */
import { SITES, type Site } from './sites.ts';

export interface Comment {
  readonly id: string;
  readonly author: string;
  readonly text: string;
  /** The time of writing by the clock of the author's device, in milliseconds since the epoch. */
  readonly writtenAt: number;
  /** The comment that it answers. */
  readonly answerTo?: string | undefined;
}

/** The comments that were read from one key. */
export type Batch = readonly Comment[] | undefined;

/**
 * The maximum number of concurrent writers. Each has a separate key at each site, because the last
 * write of a key wins.
 */
export const WRITERS = 24;
/** The maximum number of comments of a writer at a site, far more than a page shows. */
export const MAX_OF_WRITER = 50;
/**
 * The number of conversations that a page shows. It is so low that no question is dropped while its
 * answers are shown.
 */
export const MAX_SHOWN = 6;

export function toKey(site: Site, writer: number): string {
  return `bridge:${site}:${writer}`;
}

/** All keys with comments. They are in several partitions. */
export const KEYS: readonly string[] = SITES.flatMap((site) =>
  Array.from({ length: WRITERS }, (_, writer) => toKey(site, writer)),
);

/** One conversation: a comment with its answers. */
export interface Conversation {
  /** Undefined if only answers have arrived. */
  readonly question: Comment | undefined;
  readonly answers: readonly Comment[];
}

/** Arranges the comments to a thread, newest conversation first. */
export function arrangeThread(batches: readonly Batch[]): readonly Conversation[] {
  const comments = batches.flatMap((batch) => batch ?? []).toSorted(compareAge);
  const questions = new Map(comments.filter(isQuestion).map((comment) => [comment.id, comment]));
  const ids = new Set(comments.map((comment) => comment.answerTo ?? comment.id));
  const conversations = [...ids].map((id) => ({
    question: questions.get(id),
    answers: comments.filter(({ answerTo }) => answerTo === id),
  }));
  return conversations.toSorted((a, b) => getStart(b) - getStart(a));
}

/** Returns how many answers are shown without their question. */
export function countOrphans(thread: readonly Conversation[]): number {
  return thread.reduce(
    (count, { question, answers }) => count + (question === undefined ? answers.length : 0),
    0,
  );
}

function isQuestion({ answerTo }: Comment): boolean {
  return answerTo === undefined;
}

function getStart({ question, answers }: Conversation): number {
  return question?.writtenAt ?? answers[0]?.writtenAt ?? 0;
}

function compareAge(a: Comment, b: Comment): number {
  return a.writtenAt - b.writtenAt;
}

export interface ThreadFaults {
  /** Answers without their question. */
  readonly orphans: number;
  /** Comments of the reader that are missing. */
  readonly missing: number;
}

/** Finds the faults of a thread for a reader who has written the comments with these ids. */
export function findFaults(
  thread: readonly Conversation[],
  ownIds: readonly string[],
): ThreadFaults {
  const ids = listIds(thread);
  return {
    orphans: countOrphans(thread.slice(0, MAX_SHOWN)),
    missing: ownIds.filter((id) => !ids.has(id)).length,
  };
}

/** Returns how many comments of another thread are missing in this one. */
export function countHeld(thread: readonly Conversation[], other: readonly Conversation[]): number {
  const ids = listIds(thread);
  return [...listIds(other)].filter((id) => !ids.has(id)).length;
}

function listIds(thread: readonly Conversation[]): ReadonlySet<string> {
  const comments = thread.flatMap(({ question, answers }) => [question, ...answers]);
  return new Set(comments.flatMap((comment) => comment?.id ?? []));
}
