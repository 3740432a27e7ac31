/** Most tests of contracts wait, each for a store of its own: several run at a time. */
import { vi } from 'vitest';

/** Of one project, where the configuration knows of all of them alone. */
const sequence = { concurrent: true, hooks: 'stack' } as const;
vi.setConfig({ sequence });
