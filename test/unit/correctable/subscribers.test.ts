/** COR-4: what subscribers leave behind. */
import { expect, test } from 'vitest';
import { createEnvironment } from '../../../src/correctable/environment.ts';
import { createLevelOrder } from '../../../src/correctable/level-order.ts';
import { setTimeLimit, Source, getSource } from '../../../src/correctable/source.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';
import { LEVELS, manual } from './support.ts';

test('COR-4: many come and go while two stay → the seats of two are kept', () => {
  const { c } = manual();
  for (let n = 0; n < 2; n++) c.subscribe(() => {});
  for (let n = 0; n < 100; n++) c.subscribe(() => {}).unsubscribe();
  expect(getSource(c)!.subscribers!.size).toBe(2);
});

test('COR-1: a program computes a hundred timeouts → the client keeps few lists, and all operations expire', async () => {
  const clock = virtualClock();
  const environment = createEnvironment({ clock });
  const sources = Array.from({ length: 100 }, (_, at) => {
    const source = new Source(createLevelOrder(LEVELS), environment, {});
    source.isObserved = true;
    setTimeLimit(source, 10 + at);
    return source;
  });
  expect(environment.deadlines.size).toBeLessThan(20);
  await clock.advance(110);
  expect(new Set(sources.map(({ state }) => state))).toEqual(new Set(['error']));
});
