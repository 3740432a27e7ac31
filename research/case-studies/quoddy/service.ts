/**
 * Quoddy on the RedBlue backend (OSDI 2012, §7.3): what `correctables label` is given. `study.ts`
 * has the same beside what loads and looks at much data.
 */
import { defineService, type Service } from 'correctables/server';
import { quoddy } from './contract.ts';
import { mixes } from './mixes.ts';
import { newsGenerators } from './news.ts';
import { peopleGenerators } from './people.ts';
import { shadowOperations } from './shadows.ts';
import { invariants, snapshotInvariants, tables } from './tables.ts';
import { updateGenerators } from './updates.ts';

export const generators = { ...peopleGenerators, ...newsGenerators, ...updateGenerators };

export const service: Service = defineService(quoddy, {
  tables,
  shadowOperations,
  generators,
  invariants,
  snapshotInvariants,
});

/** What a user can ask for: Table 2 counts them. */
export const requests: readonly string[] = Object.keys(mixes.social);
