/** How the generators of TPC-W are typed: they stand in files by what they are about. */
import type { Generators } from 'correctables/server';
import type { tpcw } from './contract.ts';
import type { shadowOperations } from './shadows.ts';
import type { tables } from './tables.ts';

type Specs = (typeof tpcw)['operations'];
type Shadows = ReturnType<typeof shadowOperations>;

export type GeneratorsOf<K extends keyof Specs> = Generators<Specs, typeof tables, Shadows, K>;

/** What the generator of the operation `K` has. */
export type HasOf<K extends keyof Specs> = Parameters<GeneratorsOf<K>[K]>[1];
