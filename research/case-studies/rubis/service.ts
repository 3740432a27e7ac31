/**
 * RUBiS on the RedBlue backend (OSDI 2012, §7.2): what `correctables label` is given. `study.ts`
 * has the same beside what loads and looks at much data.
 */
import { defineService, type Service } from 'correctables/server';
import type { Arbitraries } from 'correctables/testing';
import { browseGenerators } from './browse.ts';
import { rubis } from './contract.ts';
import { formGenerators } from './forms.ts';
import { mixes } from './mixes.ts';
import { shadowOperations } from './shadows.ts';
import { invariants, snapshotInvariants, tables } from './tables.ts';
import { updateGenerators } from './updates.ts';

export const generators = { ...browseGenerators, ...formGenerators, ...updateGenerators };

export const service: Service = defineService(rubis, {
  tables,
  shadowOperations,
  generators,
  invariants,
  snapshotInvariants,
});

/** Items of few pieces, at prices that small numbers come up to. */
export const arbitraries: Arbitraries = {
  registerItem: ({ pick, between, chance }) => ({
    user: pick(['a', 'b']),
    name: 'a',
    description: '',
    category: pick(['a', 'b']),
    region: 'a',
    quantity: pick([1, 2, 3, 10]),
    initialPrice: between(0, 2),
    reservePrice: 0,
    buyNow: chance(0.7) ? between(1, 3) : 0,
    days: between(1, 7),
  }),
};

/** What a visitor can ask for: Table 2 counts them. */
export const requests: readonly string[] = Object.keys(mixes.bidding);
