/** A link holds so much and no more. */
// @rule BS-E9
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Link } from '../../../../../src/server/node/links/link.ts';

beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'],
    }),
);
afterEach(() => void vi.useRealTimers());

function linkOf(limits?: { maxMessages: number; maxBytes: number }): {
  link: Link<string>;
  came: string[];
  dropped: () => number;
} {
  const came: string[] = [];
  let dropped = 0;
  const link = new Link<string>({
    delayMs: 10,
    ...(limits && { limits }),
    deliver: (messages) => void came.push(...messages),
    onFull: () => (dropped += 1),
  });
  return { link, came, dropped: () => dropped };
}

test('as many messages as it may hold → the next is dropped, until some have arrived', () => {
  const { link, came, dropped } = linkOf({ maxMessages: 2, maxBytes: 100 });
  for (const message of ['a', 'b', 'c']) link.send(message);
  vi.advanceTimersByTime(10);
  link.send('d');
  vi.advanceTimersByTime(10);
  expect([came, dropped()]).toEqual([['a', 'b', 'd'], 1]);
});

test('as many bytes → likewise; one message goes, however large it is', () => {
  const { link, came, dropped } = linkOf({ maxMessages: 10, maxBytes: 100 });
  link.send('large', 1000);
  link.send('small', 1);
  vi.advanceTimersByTime(10);
  link.send('b', 60);
  link.send('c', 60);
  link.send('d', 40);
  vi.advanceTimersByTime(10);
  expect([came, dropped()]).toEqual([['large', 'b', 'd'], 2]);
});

test('closed → nothing arrives', () => {
  const { link, came } = linkOf();
  link.send('a');
  link.close();
  link.send('b');
  vi.advanceTimersByTime(100);
  expect(came).toEqual([]);
});
