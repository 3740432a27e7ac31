/** The ready key-value service in a deployment with two partitions. */
import { expect, test } from 'vitest';
import { keyValue } from '../../../../../src/contract/index.ts';
import { createClient } from '../../../../../src/index.ts';
import { getMany, put } from '../../../../../src/operations/index.ts';
import { createEmbedded, keyValueService } from '../../../../../src/server/index.ts';
import { createPartitions } from '../../../../../src/server/service/partitions.ts';
import { transaction } from '../../../../../src/transactions/index.ts';

const KEYS = ['us/ann', 'eu/bob'];
const TRANSFERS = 8;

async function open() {
  const deployment = createEmbedded(keyValueService, {
    sites: ['ireland', 'virginia', 'ohio'],
    redLeader: 'ireland',
    partitions: { us: { leader: 'virginia' } },
    maxAttempts: 50,
    onAlarm: () => {},
  });
  const [ireland, ohio] = [
    createClient(deployment.site('ireland')),
    createClient(deployment.site('ohio')),
  ];
  for (const key of KEYS) await ireland.invokeStrong(put(key, 100));
  return { deployment, ireland, ohio };
}

test('transactions over two partitions → none is lost, and strong reads never see half of one', async () => {
  const { deployment, ireland, ohio } = await open();
  const move = async (client: typeof ohio, [from, to]: readonly string[]): Promise<void> => {
    for (let turn = 0; turn < TRANSFERS; turn += 1)
      await transaction(
        client,
        async (tx) => {
          const [a = 0, b = 0] = await tx.getMany<number>([from!, to!]);
          tx.put(from!, a - 1);
          tx.put(to!, b + 1);
        },
        { maxAttempts: 100 },
      );
  };
  const totals: number[] = [];
  const read = async (): Promise<void> => {
    for (let turn = 0; turn < TRANSFERS; turn += 1) {
      const values = (await ohio.invokeStrong(getMany(KEYS))) as number[];
      totals.push(values.reduce((sum, value) => sum + value, 0));
    }
  };
  await Promise.all([move(ireland, KEYS), move(ohio, KEYS.toReversed()), move(ohio, KEYS), read()]);
  expect(totals).toEqual(Array.from({ length: TRANSFERS }, () => 200));
  expect(await ohio.invokeStrong(getMany(KEYS))).toEqual([100 - TRANSFERS, 100 + TRANSFERS]);
  await deployment.close();
});

test.each([
  ['get', { key: 'us/ann' }, 1],
  ['getMany', { keys: ['us/ann', 'eu/bob'] }, 1],
  ['put', { key: 'eu/bob', value: 1 }, 0],
  ['readVersions', { keys: ['us/ann'] }, 1],
  ['commit', { reads: [], writes: [{ key: 'us/ann', value: 1 }] }, 1],
  ['commit', { reads: [{ key: 'us/ann', version: '' }], writes: [] }, 0],
] as const)('%s %j → its home is the log %i', (name, args, home) => {
  const partitions = createPartitions(keyValueService, { us: {} });
  const { partitionBy }: { partitionBy?: string | undefined } = keyValue.operations[name];
  expect(partitions.homeOf({ partition: undefined, partitionBy }, args)).toBe(home);
});
