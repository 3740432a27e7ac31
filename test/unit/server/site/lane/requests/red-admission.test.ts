/** How much of one client may wait for the red order: its own alone, however many others wait. */
import { expect, test } from 'vitest';
import { isClientFull } from '../../../../../../src/server/site/lane/requests/red-admission.ts';

const table = {
  isFullFor: (_client: string, { pendingCount = 0 }: { pendingCount?: number } = {}): boolean =>
    pendingCount >= 3,
  get: () => undefined,
};
const among = (size: number, own: number) => {
  const ids = Array.from({ length: size }, (_, index) =>
    index < own ? `c/${index}` : `d/${index}`,
  );
  return { size, ids, countByClient: (client: string) => (client === 'c' ? own : 0) } as never;
};
const of = (size: number, own: number): boolean =>
  isClientFull([table], among(size, own), { id: 'c/9', acknowledged: 0 });

test('few wait, many of others, as many of its own as it may have', () => {
  expect([of(2, 2), of(9, 2), of(9, 3)]).toEqual([false, false, true]);
});

test('an operation in flight that the table has already, since the log has decided it, counts once', () => {
  const deciding = {
    isFullFor: (_: string, { pendingCount = 0 }: { pendingCount?: number } = {}) =>
      pendingCount >= 2,
    get: (id: string) => (id === 'c/0' ? {} : undefined),
  };
  const isFull = (own: number): boolean =>
    isClientFull([deciding], among(own, own), { id: 'c/9', acknowledged: 0 });
  expect([isFull(2), isFull(3)]).toEqual([false, true]);
});

test('one of the tables is full → full', () => {
  const full = { isFullFor: () => true, get: () => undefined };
  expect(isClientFull([table, full], among(1, 1), { id: 'c/9', acknowledged: 0 })).toBe(true);
});
