/** The primary-backup binding keeps the contract of every binding, however its tiers are asked. */
import {
  withDetails,
  skipLevel,
  tiered,
  type TierMode,
  type Tier,
} from '../../src/bindings/tiered/index.ts';
import type { Binding } from '../../src/correctable/binding.ts';
import { get, put } from '../../src/operations/index.ts';
import { runConformance } from '../support/run-conformance.ts';

type Copy = Map<string, { value: unknown; version: number }>;

function read(copy: Copy, whenAbsent: unknown): Tier {
  return ({ key = '' }) => {
    const found = copy.get(key);
    return found === undefined ? whenAbsent : withDetails(found.value, { version: found.version });
  };
}

/**
 * A cache that knows what the backup knows, a backup one turn of the event loop behind, and a
 * primary.
 */
function threeTiers(
  mode: TierMode,
  weak?: Tier,
  delayMs = 0,
): Binding<readonly ['cache', 'backup', 'primary']> {
  const primary: Copy = new Map();
  const backup: Copy = new Map();
  const update: Tier = async ({ key = '', args }) => {
    const next = {
      value: (args as { value: unknown }).value,
      version: (primary.get(key)?.version ?? 0) + 1,
    };
    await Promise.resolve();
    primary.set(key, next);
    setImmediate(() => backup.set(key, next));
  };
  const readPrimary: Tier = async (operation, context) => {
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    return read(primary, undefined)(operation, context);
  };
  return tiered(
    ['cache', 'backup', 'primary'],
    {
      cache: weak ?? read(backup, skipLevel),
      backup: weak ?? read(backup, undefined),
      primary: (operation, context) =>
        (operation.access === 'write' ? update : readPrimary)(operation, context),
    },
    { mode, supports: ({ name }) => name === 'get' || name === 'put' },
  );
}

/** A backup that takes its time, and no primary. */
function offline(mode: TierMode): Binding<readonly ['backup', 'primary']> {
  const backup: Tier = () => new Promise((resolve) => setTimeout(resolve, 1, { n: 1 }));
  const primary: Tier = () => Promise.reject(new Error('offline'));
  return tiered(['backup', 'primary'], { backup, primary }, { mode });
}

/** No primary, and a backup that hangs. */
function silent(): Binding<readonly ['backup', 'primary']> {
  const tiers = {
    backup: () => new Promise(() => {}),
    primary: () => Promise.reject(new Error('offline')),
  };
  return tiered(['backup', 'primary'], tiers, { mode: 'parallel' });
}

for (const mode of ['parallel', 'sequential'] as const) {
  runConformance({
    name: `primary-backup, ${mode}`,
    createBinding: async () => ({ binding: threeTiers(mode) }),
    write: put('k', { n: 1 }),
    read: get('k'),
    expected: { n: 1 },
    slowBinding: async () => ({ binding: threeTiers(mode, undefined, 300) }),
    strongLevelFails: async () => ({ binding: offline(mode) }),
    // In sequence, the primary is not asked before the backup has answered.
    ...(mode === 'parallel' ? { neverResponds: async () => ({ binding: silent() }) } : {}),
    weakLevelFails: {
      fail: async () => ({
        binding: threeTiers(mode, () => Promise.reject(new Error('no backup'))),
      }),
      'stay away': async () => ({ binding: threeTiers(mode, () => new Promise(() => {})) }),
    },
  });
}
