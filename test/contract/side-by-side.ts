/** Most tests of contracts wait, each for a store of its own: they run several at a time. A mutant is asked about one by one. */
import { vi } from 'vitest';

const concurrent = process.env['CORRECTABLES_MUTANT'] === undefined;
vi.setConfig({ sequence: { concurrent, hooks: 'stack' } });
