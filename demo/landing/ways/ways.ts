/** The three ways, in the order of the page. The page shows their code beside each other: each is complete, so lines repeat. */
import * as correctables from './correctables.ts';
import * as plainAwait from './plain-await.ts';
import type { Buy, Open } from './shop.ts';
import * as staleWhileRevalidate from './stale-while-revalidate.ts';

export const WAY_NAMES = ['await', 'stale', 'correctables'] as const;
export type WayName = (typeof WAY_NAMES)[number];

export interface Way {
  readonly title: string;
  readonly open: Open;
  readonly buy: Buy;
}

export const WAYS: Readonly<Record<WayName, Way>> = {
  await: { title: 'Plain await', ...plainAwait },
  stale: { title: 'Stale-while-revalidate', ...staleWhileRevalidate },
  correctables: { title: 'Correctables', ...correctables },
};
