/** How the generators of Quoddy are typed: they stand in files by what they are about. */
import type { Generators } from 'correctables/server';
import type { quoddy } from './contract.ts';
import type { shadowOperations } from './shadows.ts';
import type { tables } from './tables.ts';

type Specs = (typeof quoddy)['operations'];
type Shadows = ReturnType<typeof shadowOperations>;

export type GeneratorsOf<K extends keyof Specs> = Generators<Specs, typeof tables, Shadows, K>;

/** What generators read. */
export type Readers = Parameters<GeneratorsOf<'findUser'>['findUser']>[1]['tables'];
