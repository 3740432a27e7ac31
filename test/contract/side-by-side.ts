/** Most tests of contracts wait, each for a store of its own: several run at a time. About a mutant they are asked in turn. */
import { vi } from 'vitest';

/** Of one project, where the configuration knows of all of them alone. */
const sequence = { concurrent: process.env['CORRECTABLES_MUTANT'] === undefined, hooks: 'stack' } as const;
vi.setConfig({ sequence });
