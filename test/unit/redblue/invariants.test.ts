/** Invariants at the sites of a deployment that is being developed. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../src/index.ts';
import { blue, counter, createEmbedded, defineContract, defineService, table } from '../../../src/server/index.ts';
import type { EmbeddedOptions, SiteAlarm } from '../../../src/server/index.ts';

const contract = defineContract('c', {
  take: { effect: 'update', args: z.object({ k: z.string() }), result: z.null() },
});
const service = defineService(contract, {
  tables: { t: table({ n: counter() }) },
  shadowOperations: ({ t }) => ({ take: blue((a: { k: string }) => [t.row(a.k).n.add(-1)]) }),
  generators: { take: (args, { shadow }) => shadow.take(args, null) },
  invariants: { t: { 'never negative': ({ n }) => n >= 0 } },
});

/** What operators are told while two operations break the invariant of one row. */
async function alarmsOf(options: Partial<EmbeddedOptions>): Promise<readonly SiteAlarm[]> {
  const alarms: SiteAlarm[] = [];
  const embedded = createEmbedded(service, { sites: ['a'], onAlarm: (alarm) => alarms.push(alarm), ...options });
  const client = createClient(embedded.site('a'));
  await client.invoke(contract.take({ k: 'x' }));
  await client.invoke(contract.take({ k: 'x' }));
  await embedded.close();
  return alarms;
}

describe('checkInvariants', () => {
  afterEach(() => vi.unstubAllEnvs());

  test('broken → one alarm a row, that names operation, row and invariant', async () => {
    const [alarm, ...others] = await alarmsOf({ checkInvariants: true });
    expect(alarm).toMatchObject({ kind: 'invariant-broken', site: 'a' });
    expect(alarm?.message).toMatch(/take .*'x' of t .*"never negative"/);
    expect(others).toEqual([]);
  });

  test('not said: on in development, off in production', async () => {
    expect(await alarmsOf({})).toHaveLength(1);
    vi.stubEnv('NODE_ENV', 'production');
    expect(await alarmsOf({})).toEqual([]);
    expect(await alarmsOf({ checkInvariants: true })).toHaveLength(1);
  });

  test('off → nothing is said', async () => {
    expect(await alarmsOf({ checkInvariants: false })).toEqual([]);
  });
});
