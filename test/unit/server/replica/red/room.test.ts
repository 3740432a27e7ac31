/** How much of one client may wait for the red order: its own alone, however many others wait. */
import { expect, test } from 'vitest';
import { isFullFor } from '../../../../../src/server/replica/red/room.ts';

const table = {
  isFullFor: (_client: string, { coming }: { coming: number }): boolean => coming >= 3,
  has: (): boolean => false,
};
const among = (size: number, own: number) => {
  const ids = Array.from({ length: size }, (_, index) => (index < own ? `c/${index}` : `d/${index}`));
  return { size, ids, countOf: (client: string) => (client === 'c' ? own : 0) } as never;
};
const of = (size: number, own: number): boolean => isFullFor([table], among(size, own), { id: 'c/9', acknowledged: 0 });

test('few wait, many of others, as many of its own as it may have', () => {
  expect([of(2, 2), of(9, 2), of(9, 3)]).toEqual([false, false, true]);
});

test('an operation in flight that the table has already, since the log has decided it, counts once', () => {
  const deciding = {
    isFullFor: (_: string, { coming }: { coming: number }) => coming >= 2,
    has: (id: string) => id === 'c/0',
  };
  const isFull = (own: number): boolean => isFullFor([deciding], among(own, own), { id: 'c/9', acknowledged: 0 });
  expect([isFull(2), isFull(3)]).toEqual([false, true]);
});

test('one of the tables is full → full', () => {
  const full = { isFullFor: () => true, has: () => false };
  expect(isFullFor([table, full], among(1, 1), { id: 'c/9', acknowledged: 0 })).toBe(true);
});
