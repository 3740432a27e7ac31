/** Tiers with versions and sessions keep the contract of every binding, per key and per store. */
import { expect, test } from 'vitest';
import {
  skipLevel,
  tiered,
  versionSessions,
  withDetails,
  type Tier,
  type VersionSessionsOptions,
} from '../../src/bindings/tiered/index.ts';
import { signedTokens } from '../../src/bindings/tiered/node.ts';
import { get, put } from '../../src/operations/index.ts';
import { ConformanceError } from '../../src/testing/binding-conformance.ts';
import type { ConformanceSubject, OpenedBinding, PausedBinding } from '../../src/testing/index.ts';
import { runConformance } from '../support/run-conformance.ts';
import { collectFailure } from './collect-failures.ts';

const LEVELS = ['cache', 'backup', 'primary'] as const;

type Per = NonNullable<VersionSessionsOptions['per']>;

interface Setup extends VersionSessionsOptions {
  readonly weak?: Tier;
  /** Whether the copies get no write. */
  readonly isPaused?: boolean;
}

/**
 * A cache and a backup one turn of the event loop behind, and a primary that counts all writes, or
 * those of a key.
 */
function openTiers({ weak, isPaused = false, ...options }: Setup) {
  const primary = new Map<string, { value: unknown; version: number }>();
  const copy = new Map(primary);
  let writes = 0;
  const catchUp = (): void => primary.forEach((row, key) => copy.set(key, row));
  const read = (rows: typeof primary, absent: unknown, key = ''): unknown => {
    const row = rows.get(key);
    const version = options.per === 'store' ? writes : row?.version;
    if (row === undefined) return absent;
    return withDetails(row.value, { version: rows === primary ? version : row.version });
  };
  const write = async (key: string, value: unknown): Promise<unknown> => {
    writes += 1;
    const version = options.per === 'store' ? writes : (primary.get(key)?.version ?? 0) + 1;
    primary.set(key, { value, version });
    if (!isPaused) setImmediate(catchUp);
    return withDetails(undefined, { version });
  };
  const tokens = signedTokens({ tokenKey: 'a secret of all processes' });
  const binding = tiered(
    LEVELS,
    {
      cache: weak ?? (({ key }) => read(copy, skipLevel, key)),
      backup: weak ?? (async ({ key }) => read(copy, withDetails(undefined, { version: 0 }), key)),
      primary: async ({ access, key = '', args }) => {
        if (access === 'write') return write(key, (args as { value: unknown }).value);
        await Promise.resolve();
        return read(primary, undefined, key);
      },
    },
    {
      supports: ({ name }) => name === 'get' || name === 'put',
      sessions: versionSessions({ tokens, ...options }),
    },
  );
  return { binding, catchUp };
}

const open = async (setup: Setup): Promise<OpenedBinding> => ({
  binding: openTiers(setup).binding,
});

async function openPaused(setup: Setup): Promise<PausedBinding> {
  const { binding, catchUp } = openTiers({ ...setup, isPaused: true });
  return { binding, resume: async () => catchUp() };
}

const createSubject = (per: Per): ConformanceSubject => ({
  name: `tiered with sessions per ${per}`,
  createBinding: () => open({ per }),
  write: put('k', { n: 1 }),
  read: get('k'),
  expected: { n: 1 },
  weakLevelFails: {
    fail: () => open({ per, weak: () => Promise.reject(new Error('no backup')) }),
    'stay away': () => open({ per, weak: () => new Promise(() => {}) }),
  },
  pausedWeakLevel: () => openPaused({ per }),
});

for (const per of ['key', 'store'] as const) runConformance(createSubject(per));

const PAUSED = 'session: weaker levels are behind → no view of theirs, until they have caught up';

test('versions that are always reached are caught', async () => {
  const subject = {
    ...createSubject('key'),
    pausedWeakLevel: () => openPaused({ reached: () => true }),
  };
  expect(await collectFailure(subject, PAUSED)).toBeInstanceOf(ConformanceError);
});
