/** Alarms whose text and number clients could choose. */
import { expect, test } from 'vitest';
import { createGeneratorAlarm } from '../../../../../src/server/node/alarms/replica-alarms.ts';

test('a generator throws 2,000 times in a second → ten alarms; the next second reports how many were left out', () => {
  const messages: string[] = [];
  let nowMs = 0;
  const threw = createGeneratorAlarm(
    'ireland',
    ({ message }) => messages.push(message),
    () => nowMs,
  );
  for (let call = 0; call < 2000; call += 1) {
    nowMs = call / 2.001;
    threw("the generator of 'book'", new Error('no such row'));
  }
  expect(messages).toHaveLength(10);
  nowMs = 1000;
  threw("the generator of 'book'", new Error('no such row'));
  threw("the generator of 'book'", new Error('no such row'));
  expect(messages).toHaveLength(12);
  expect(messages[10]).toContain('1990 more');
  expect(messages[11]).not.toContain('more');
});

test('what it threw is long → its beginning, and how long it was', () => {
  const messages: string[] = [];
  createGeneratorAlarm('ireland', ({ message }) => messages.push(message))(
    'book',
    `bad ${'y'.repeat(10_000)}`,
  );
  expect(messages[0]!.length).toBeLessThan(700);
  expect(messages[0]).toMatch(/book.*bad yyy.*10004 characters/);
});
