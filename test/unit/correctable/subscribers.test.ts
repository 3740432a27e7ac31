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

test('COR-1: all with one limit have ended → its list is given up', async () => {
  const clock = virtualClock();
  const environment = createEnvironment({ clock });
  const source = new Source(createLevelOrder(LEVELS), environment, {});
  source.isObserved = true;
  setTimeLimit(source, 10);
  expect(environment.deadlines.size).toBe(1);
  await clock.advance(10);
  expect([source.state, environment.deadlines.size]).toEqual(['error', 0]);
});
