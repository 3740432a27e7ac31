/**
 * The four ways, in the order of the page. The page shows their code: each is complete, so lines
 * repeat.
 */
import * as buyAtOnce from './buy-at-once.ts';
import * as buyHeld from './buy-held.ts';
import * as correctables from './correctables.ts';
import * as plainAwait from './plain-await.ts';
import type { Buy, Open } from './shop.ts';

export const WAY_NAMES = ['await', 'careless', 'careful', 'correctables'] as const;
export type WayName = (typeof WAY_NAMES)[number];

export interface Way {
  readonly title: string;
  readonly open: Open;
  readonly buy: Buy;
}

export const WAYS: Readonly<Record<WayName, Way>> = {
  await: { title: 'Plain await', ...plainAwait },
  careless: { title: 'Stale-while-revalidate, Buy at once', ...buyAtOnce },
  careful: { title: 'Stale-while-revalidate, Buy held', ...buyHeld },
  correctables: { title: 'Correctables', ...correctables },
};
