/** Threads of comments, as they are made of what a store returns. */
import { describe, expect, test } from 'vitest';
import { CommentRoom } from '../../../demo/news/comment-room.ts';
import {
  arrangeThread,
  countHeld,
  findFaults,
  KEYS,
  MAX_OF_WRITER,
  toKey,
  type Comment,
} from '../../../demo/news/comments.ts';
import { converse, writeScript } from '../../../demo/news/conversation.ts';
import { openRoom } from '../../../demo/news/comment-room.ts';
import { chooseHeadline, FIRST_HEADLINES } from '../../../demo/news/headlines.ts';
import { createClient } from 'correctables';
import { memory } from 'correctables/bindings/memory';

const question: Comment = { id: 'q', author: 'Ann', text: 'Ready?', writtenAt: 1 };
const answer: Comment = { id: 'a', author: 'Bob', text: 'Yes.', writtenAt: 2, answerTo: 'q' };
const other: Comment = { id: 'o', author: 'Guest 1', text: 'Hello', writtenAt: 3 };

describe('arrangeThread', () => {
  test('puts answers below their question, and the newest conversation first', () => {
    expect(arrangeThread([[answer], undefined, [question, other]])).toEqual([
      { question: other, answers: [] },
      { question, answers: [answer] },
    ]);
  });

  test('keeps an answer without its question', () => {
    expect(arrangeThread([[answer]])).toEqual([{ question: undefined, answers: [answer] }]);
  });
});

test('findFaults counts answers without their question, and own comments that are missing', () => {
  expect(findFaults(arrangeThread([[question, answer]]), ['a'])).toEqual({
    orphans: 0,
    missing: 0,
  });
  expect(findFaults(arrangeThread([[answer]]), ['o', 'a'])).toEqual({ orphans: 1, missing: 1 });
});

test('countHeld counts comments that only the other thread has', () => {
  expect(countHeld(arrangeThread([[other]]), arrangeThread([[other, answer]]))).toBe(1);
  expect(countHeld(arrangeThread([[other, question]]), arrangeThread([[other]]))).toBe(0);
});

test('each writer has a key at each site', () => {
  expect(new Set(KEYS).size).toBe(KEYS.length);
  expect(KEYS).toContain(toKey('sydney', 0));
});

describe('CommentRoom', () => {
  test('appends to the comments of its writer, and drops the oldest', async () => {
    const store = new Map<string, unknown>();
    const room = new CommentRoom({
      site: 'dublin',
      writer: 2,
      read: async <T>({ args }: { readonly args: unknown }) =>
        store.get((args as { key: string }).key) as T,
      write: async <T>({ args }: { readonly args: unknown }) => {
        const { key, value } = args as { key: string; value: unknown };
        store.set(key, value);
        return undefined as T;
      },
    });
    for (let at = 0; at <= MAX_OF_WRITER; at += 1) await room.post({ ...other, id: `${at}` });
    const ids = (store.get(toKey('dublin', 2)) as Comment[]).map(({ id }) => id);
    expect(ids).toHaveLength(MAX_OF_WRITER);
    expect(ids.at(0)).toBe('1');
    expect(ids.at(-1)).toBe(`${MAX_OF_WRITER}`);
  });

  test('Bob answers once he sees the question of Ann', async () => {
    const client = createClient(memory({ levels: ['here'] }));
    const [ann, bob] = [
      openRoom({ site: 'dublin', writer: 1, client }),
      openRoom({ site: 'oregon', writer: 1, client }),
    ];
    const script = writeScript(0, 'x', 10);
    await converse(ann, bob, script);
    expect(await bob.readThread()).toEqual([
      { question: script.question, answers: [script.answer] },
    ]);
    await client.close();
  });
});

test('chooseHeadline takes those in turn that are not on the front page', () => {
  const shown = FIRST_HEADLINES.map((draft, at) => ({ ...draft, id: `${at}` })).toReversed();
  const published = new Set<string>();
  for (let at = 0; at < 20; at += 1) {
    const draft = chooseHeadline(shown);
    expect(shown.map(({ headline }) => headline)).not.toContain(draft.headline);
    published.add(draft.headline);
    shown.unshift({ ...draft, id: `later ${at}` });
    shown.length = FIRST_HEADLINES.length;
  }
  expect(published.size).toBe(8);
});
