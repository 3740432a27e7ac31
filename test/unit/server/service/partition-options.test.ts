/** The option `partitions` of a deployment: what is refused, and what is reported. */
import { expect, test } from 'vitest';
import { createClient } from '../../../../src/index.ts';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import type { SiteAlarm } from '../../../../src/server/node/alarms/site-alarm.ts';
import { createEmbedded, openEmbedded } from '../../../../src/server/node/embedded/embedded.ts';
import { resolvePartitions } from '../../../../src/server/service/partition-options.ts';
import { blue, counter, defineService, red, table } from '../../../../src/server/index.ts';
import type { Service } from '../../../../src/server/service/service.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const SITES = ['ireland', 'frankfurt', 'virginia', 'ohio'] as const;
const args = z.object({ account: z.string(), cents: z.int() });
const write = { access: 'write', args, result: z.null() } as const;

interface Change {
  readonly account: string;
  readonly cents: number;
}

const bank = defineContract('bank', {
  withdraw: { ...write, partitionBy: 'account' },
  transfer: write,
  sweep: { ...write, partition: 'main' },
  deposit: { ...write, color: 'blue' },
  balance: { access: 'read', partitionBy: 'account', args, result: z.int() },
});

const service: Service = defineService(bank, {
  tables: { accounts: table({ balance: counter() }, { partition: 'key' }) },
  shadowOperations: ({ accounts }) => ({
    take: red(({ account, cents }: Change) => [accounts.row(account).balance.add(-cents)]),
    give: blue(({ account, cents }: Change) => [accounts.row(account).balance.add(cents)]),
  }),
  generators: {
    withdraw: (change, { shadow }) => shadow.take(change, null),
    transfer: (change, { shadow }) => shadow.take(change, null),
    sweep: (change, { shadow }) => shadow.take(change, null),
    deposit: (change, { shadow }) => shadow.give(change, null),
    balance: ({ account }, { tables }) => tables.accounts.row(account).balance,
  },
}) as unknown as Service;

test('partitions → in the order of their names, with all sites as voters by default', () => {
  const voters = ['ohio', 'ireland', 'virginia'];
  expect(
    resolvePartitions({ us: { leader: 'virginia', voters }, asia: { leader: 'ohio' } }, SITES),
  ).toEqual([
    { name: 'asia', leader: 'ohio', voters: SITES },
    { name: 'us', leader: 'virginia', voters: ['ireland', 'virginia', 'ohio'] },
  ]);
  expect(resolvePartitions(undefined, SITES)).toEqual([]);
});

test.each<readonly [string, unknown, string]>([
  [
    'partitions',
    ['us'],
    "must be an object with a leader for each name, as { partitions: { us: { leader: 'virginia' } } }",
  ],
  ['partitions', null, 'must be an object with a leader for each name'],
  ['partitions.us', 'virginia', "write { partitions: { us: { leader: 'virginia' } } }"],
  ['partitions.us.leader', {}, 'must be one of ireland, frankfurt, virginia, ohio, got nothing'],
  ['partitions.us.votes', { leader: 'virginia', votes: [] }, 'Did you mean "voters"?'],
  [
    'partitions.us.leader',
    { leader: 'paris' },
    'must be one of ireland, frankfurt, virginia, ohio, got "paris"',
  ],
  [
    'partitions.us.voters',
    { leader: 'ohio', voters: [] },
    'must be a list of one or more different names',
  ],
  [
    'partitions.us.voters',
    { leader: 'ohio', voters: ['ohio', 'ohio'] },
    'must be a list of one or more different names',
  ],
  [
    'partitions.us.voters',
    { leader: 'ohio', voters: ['ohio', 'paris'] },
    "'paris' is not one of ireland",
  ],
  [
    'partitions.us.voters',
    { leader: 'ohio', voters: ['ireland', 'virginia'] },
    'must have the leader: add ohio',
  ],
  [
    'partitions.us.voters',
    { leader: 'ohio', voters: ['ohio'] },
    'must be at least two of ireland, frankfurt',
  ],
  ['partitions.main', { leader: 'ohio' }, "every deployment has 'main' for all other rows"],
])('%s: %j is refused before anything starts', (field, value, problem) => {
  const isWhole = field === 'partitions';
  const name = field.split('.')[1] as string;
  const partitions = (isWhole ? value : { [name]: value }) as never;
  const start = (): unknown => createEmbedded(service, { sites: SITES, partitions });
  expect(start).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field }));
  expect(start).toThrow(problem);
});

test('one voter is enough for two sites, since both can never be lost unnoticed', () => {
  const two = ['ireland', 'virginia'];
  expect(resolvePartitions({ us: { leader: 'virginia', voters: ['virginia'] } }, two)).toHaveLength(
    1,
  );
});

test('several partitions → each write that may be red and names none is reported once', async () => {
  const alarms: SiteAlarm[] = [];
  const onAlarm = (alarm: SiteAlarm): void => void alarms.push(alarm);
  const partitions = { us: { leader: 'virginia' } } as const;
  await createEmbedded(service, { sites: SITES, partitions, onAlarm }).close();
  expect(alarms.map(({ kind, message }) => [kind, /'(\w+)'/.exec(message)?.[1]])).toEqual([
    ['operation-without-partition', 'transfer'],
  ]);
  alarms.length = 0;
  await createEmbedded(service, { sites: SITES, onAlarm }).close();
  expect(alarms).toEqual([]);
});

test('a restart on a directory → what the log of each partition has confirmed is there', async () => {
  const dataDir = temporaryFolder();
  const partitions = { us: { leader: 'virginia', voters: ['virginia', 'ohio'] } } as const;
  const start = () =>
    openEmbedded(service, {
      sites: SITES,
      partitions,
      dataDir,
      checkColors: false,
      onAlarm: () => {},
    });
  const accounts = ['us/ann', 'eu/bob'];
  const first = await start();
  const virginia = createClient(first.site('virginia'));
  for (const account of accounts) await virginia.invokeStrong(bank.withdraw({ account, cents: 5 }));
  await first.close();

  const second = await start();
  const ohio = createClient(second.site('ohio'));
  for (const account of accounts) await ohio.invokeStrong(bank.withdraw({ account, cents: 2 }));
  const balances = accounts.map((account) =>
    ohio.invokeStrong(bank.balance({ account, cents: 0 })),
  );
  expect(await Promise.all(balances)).toEqual([-7, -7]);
  await second.close();
});
