/** How the generators of RUBiS are typed: they stand in files by what they are about. */
import type { Generators } from 'correctables/server';
import type { rubis } from './contract.ts';
import type { shadowOperations } from './shadows.ts';
import type { tables } from './tables.ts';

type Specs = (typeof rubis)['operations'];
type Shadows = ReturnType<typeof shadowOperations>;

export type GeneratorsOf<K extends keyof Specs> = Generators<Specs, typeof tables, Shadows, K>;

/** What generators read. */
export type Readers = Parameters<GeneratorsOf<'viewItem'>['viewItem']>[1]['tables'];
