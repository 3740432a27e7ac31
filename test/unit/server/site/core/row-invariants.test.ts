/** Invariants at the sites of a deployment that is being developed. */
// @rule RB-V9
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../../../src/index.ts';
import { defineContract } from '../../../../../src/contract/index.ts';
import {
  blue,
  counter,
  createEmbedded,
  defineService,
  red,
  register,
  table,
} from '../../../../../src/server/index.ts';
import type { EmbeddedOptions, SiteAlarm } from '../../../../../src/server/index.ts';

const contract = defineContract('c', {
  take: { access: 'write', args: z.object({ k: z.string() }), result: z.null() },
});
const service = defineService(contract, {
  tables: { t: table({ n: counter() }) },
  shadowOperations: ({ t }) => ({ take: blue((a: { k: string }) => [t.row(a.k).n.add(-1)]) }),
  generators: { take: (args, { shadow }) => shadow.take(args, null) },
  invariants: { t: { 'never negative': ({ n }) => n >= 0 } },
});

type OnAlarm = NonNullable<EmbeddedOptions['onAlarm']>;

/** Returns the alarms while two operations break the invariant of one row. */
async function alarmsOf(options: Partial<EmbeddedOptions>): Promise<readonly SiteAlarm[]> {
  const alarms: SiteAlarm[] = [];
  const embedded = createEmbedded(service, {
    sites: ['a'],
    onAlarm: (alarm) => alarms.push(alarm),
    ...options,
  });
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

  test('by default on in development, off in production', async () => {
    expect(await alarmsOf({})).toHaveLength(1);
    vi.stubEnv('NODE_ENV', 'production');
    expect(await alarmsOf({})).toEqual([]);
    expect(await alarmsOf({ checkInvariants: true })).toHaveLength(1);
  });

  test('a row that the operation removes → is not judged by what an absent row reads as', async () => {
    const wards = defineContract('wards', {
      admit: { access: 'write', args: z.object({ k: z.string() }), result: z.null() },
      discharge: { access: 'write', args: z.object({ k: z.string() }), result: z.null() },
    });
    const ward = defineService(wards, {
      tables: { patients: table({ name: register<string>() }, { removable: true }) },
      shadowOperations: ({ patients }) => ({
        admit: red((a: { k: string }) => [patients.row(a.k).name.write(a.k)]),
        discharge: red((a: { k: string }) => [patients.remove(a.k)]),
      }),
      generators: {
        admit: (args, { shadow }) => shadow.admit(args, null),
        discharge: (args, { shadow }) => shadow.discharge(args, null),
      },
      invariants: { patients: { 'has a name': ({ name }) => name !== undefined } },
    });
    const alarms: SiteAlarm[] = [];
    const embedded = createEmbedded(ward, { sites: ['a'], onAlarm: (alarm) => alarms.push(alarm) });
    const client = createClient(embedded.site('a'));
    await client.invoke(wards.admit({ k: 'ann' }));
    await client.invoke(wards.discharge({ k: 'ann' }));
    await embedded.close();
    expect(alarms).toEqual([]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no pager');
      },
    ],
    ['gives a promise that is rejected', async () => Promise.reject(new Error('no pager'))],
  ])(
    'onAlarm %s → the red operation is answered all the same, and the alarm becomes a warning',
    async (_how, onAlarm) => {
      const warnings: string[] = [];
      vi.spyOn(process, 'emitWarning').mockImplementation(
        (warning) => void warnings.push(String(warning)),
      );
      const breaking = defineService(contract, {
        tables: { t: table({ n: counter() }) },
        shadowOperations: ({ t }) => ({ take: red((a: { k: string }) => [t.row(a.k).n.add(-1)]) }),
        generators: { take: (args, { shadow }) => shadow.take(args, null) },
        invariants: { t: { 'never negative': ({ n }) => n >= 0 } },
      });
      const embedded = createEmbedded(breaking, { sites: ['a'], onAlarm: onAlarm as OnAlarm });
      const client = createClient(embedded.site('a'));
      expect(await client.invoke(contract.take({ k: 'x' }), { timeoutMs: 5000 })).toBeNull();
      await embedded.close();
      vi.restoreAllMocks();
      expect(warnings).toEqual([expect.stringMatching(/"never negative".*onAlarm.*no pager/)]);
    },
  );

  test('off → no alarm', async () => {
    expect(await alarmsOf({ checkInvariants: false })).toEqual([]);
  });
});
