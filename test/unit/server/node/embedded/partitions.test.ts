/**
 * A deployment in one process with two partitions: what is answered, what is refused, and what a
 * restart has.
 */
import { expect, test } from 'vitest';
import { createClient } from '../../../../../src/index.ts';
import { openDeployment } from '../../../../../src/server/node/embedded/embedded.ts';
import { createEmbedded, openEmbedded, type SiteAlarm } from '../../../../../src/server/index.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { bank, partitionedBank } from '../../site/lane/partitions/partitioned-bank.ts';

const open = (dataDir: string) =>
  openEmbedded(partitionedBank, {
    sites: ['ireland', 'frankfurt', 'virginia', 'ohio'],
    redLeader: 'ireland',
    partitions: { us: { leader: 'virginia', voters: ['virginia', 'ohio', 'ireland'] } },
    dataDir,
    onAlarm: () => {},
  });

test('operations of both partitions → answered, and there after a restart', async () => {
  const dataDir = temporaryFolder();
  const first = await open(dataDir);
  const [virginia, frankfurt] = [
    createClient(first.site('virginia')),
    createClient(first.site('frankfurt')),
  ];
  await virginia.invoke(bank.deposit({ account: 'us/ann', amount: 100 }));
  await frankfurt.invoke(bank.deposit({ account: 'eu/bob', amount: 100 }));
  const withdrawals = [
    await virginia.invokeStrong(bank.withdraw({ account: 'us/ann', amount: 30 })),
    await frankfurt.invokeStrong(bank.withdraw({ account: 'eu/bob', amount: 40 })),
  ];
  expect(withdrawals).toEqual([true, true]);
  await first.close();

  const second = await open(dataDir);
  const ohio = createClient(second.site('ohio'));
  const balances = [
    await ohio.invokeStrong(bank.balance({ account: 'us/ann' })),
    await ohio.invokeStrong(bank.balance({ account: 'eu/bob' })),
  ];
  expect(balances).toEqual([70, 60]);
  expect(await ohio.invokeStrong(bank.withdraw({ account: 'us/ann', amount: 70 }))).toBe(true);
  await second.close();
});

test('rows of two partitions → executed, and there after a restart', async () => {
  const dataDir = temporaryFolder();
  const first = await open(dataDir);
  const client = createClient(first.site('ohio'));
  await client.invoke(bank.deposit({ account: 'us/ann', amount: 10 }));
  expect(
    await client.invokeStrong(bank.transfer({ from: 'us/ann', to: 'eu/bob', amount: 4 })),
  ).toBe(true);
  await first.close();

  const second = await open(dataDir);
  const virginia = createClient(second.site('virginia'));
  const balances = [
    await virginia.invokeStrong(bank.balance({ account: 'us/ann' })),
    await virginia.invokeStrong(bank.balance({ account: 'eu/bob' })),
  ];
  expect(balances).toEqual([6, 4]);
  await second.close();
});

// @rule PART-G10
test('strong reads of two partitions beside transfers → always the whole total', async () => {
  const deployment = await open(temporaryFolder());
  const [ohio, frankfurt] = [
    createClient(deployment.site('ohio')),
    createClient(deployment.site('frankfurt')),
  ];
  await ohio.invokeStrong(bank.deposit({ account: 'us/ann', amount: 100 }));
  await ohio.invokeStrong(bank.deposit({ account: 'eu/bob', amount: 100 }));
  await expect.poll(() => frankfurt.invokeWeak(bank.sum({ prefix: '' }))).toBe(200);
  const move = async (client: typeof ohio, from: string, to: string): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1)
      await client.invoke(bank.transfer({ from, to, amount: 1 }));
  };
  const sums: number[] = [];
  const sum = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1)
      sums.push(await frankfurt.invokeStrong(bank.sum({ prefix: '' })));
  };
  await Promise.all([move(ohio, 'us/ann', 'eu/bob'), move(frankfurt, 'eu/bob', 'us/ann'), sum()]);
  expect(sums).toEqual(Array.from({ length: 10 }, () => 200));
  await deployment.close();
});

test('a transfer over two partitions → its site counts it, and each site its hold', async () => {
  const { embedded, begin, getFigures } = await openDeployment(partitionedBank, {
    sites: ['ireland', 'virginia'],
    partitions: { us: { leader: 'virginia' } },
    onAlarm: () => {},
  });
  begin();
  const ireland = createClient(embedded.site('ireland'));
  await ireland.invoke(bank.deposit({ account: 'eu/bob', amount: 10 }));
  await ireland.invokeStrong(bank.transfer({ from: 'eu/bob', to: 'us/ann', amount: 4 }));
  const [main, us] = [0, 1].map((partition) => getFigures('ireland').partitions?.logs[partition]);
  expect(main).toMatchObject({ committed: 1, globals: { committed: 1, refused: 0, aborted: 0 } });
  await expect.poll(() => us?.holds.count).toBe(1);
  expect(getFigures('virginia').partitions?.logs[0]?.committed).toBe(0);
  await expect.poll(() => getFigures('virginia').partitions?.standingHolds).toEqual([0, 0]);
  expect(main?.gateWaits.count).toBeGreaterThan(0);
  await embedded.close();
});

test('a hundred transfers over two partitions → their site reports the operation once', async () => {
  const alarms: SiteAlarm[] = [];
  const deployment = createEmbedded(partitionedBank, {
    sites: ['ireland', 'virginia'],
    partitions: { us: { leader: 'virginia' } },
    onAlarm: (alarm) => void alarms.push(alarm),
  });
  const ireland = createClient(deployment.site('ireland'));
  const move = async (_: unknown, n: number): Promise<void> => {
    await ireland.invoke(bank.deposit({ account: `eu/${n}`, amount: 1 }));
    await ireland.invokeStrong(bank.transfer({ from: `eu/${n}`, to: `us/${n}`, amount: 1 }));
  };
  await Promise.all(Array.from({ length: 110 }, move));
  const isMeant = ({ kind }: SiteAlarm): boolean => kind === 'operation-mostly-global';
  expect(
    alarms.filter(isMeant).map(({ site, message }) => [site, /of '(\w+)'/.exec(message)?.[1]]),
  ).toEqual([['ireland', 'transfer']]);
  await deployment.close();
});
