/**
 * Plays a conversation: Ann asks a question in Dublin. Bob reads in Oregon, and answers as soon as
 * he sees the question.
 */
import type { CommentRoom } from './comment-room.ts';
import type { Comment } from './comments.ts';

/** How often Bob looks for the question. */
const LOOK_EVERY_MS = 50;

const TEXTS: readonly (readonly [question: string, answer: string])[] = [
  ['Is the new bridge ready?', 'Yes, since Monday.'],
  ['Will there be a bus instead?', 'No, only on Sundays.'],
  ['Is it safe to walk across?', 'No, a plank is missing.'],
  ['Do they keep the lamps?', 'Yes, all twelve of them.'],
];

/** A conversation before it is written. The number chooses its texts. */
export interface Script {
  readonly question: Comment;
  readonly answer: Comment;
}

export function writeScript(number: number, id: string, nowMs: number): Script {
  const [question, answer] = TEXTS[number % TEXTS.length] as (typeof TEXTS)[number];
  return {
    question: { id: `${id}-q`, author: 'Ann', text: question, writtenAt: nowMs },
    answer: {
      id: `${id}-a`,
      author: 'Bob',
      text: answer,
      writtenAt: nowMs + 1,
      answerTo: `${id}-q`,
    },
  };
}

/** Plays the conversation. Resolves when both comments are written at their own sites. */
export async function converse(
  ann: CommentRoom,
  bob: CommentRoom,
  { question, answer }: Script,
): Promise<void> {
  await ann.post(question);
  while (!hasQuestion(await bob.readThread(), question)) await pause(LOOK_EVERY_MS);
  await bob.post(answer);
}

function hasQuestion(
  thread: Awaited<ReturnType<CommentRoom['readThread']>>,
  { id }: Comment,
): boolean {
  return thread.some(({ question }) => question?.id === id);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
