/** Operations with rows of two partitions, at sites with two red logs. */
import { expect, test } from 'vitest';
import {
  findGlobalReads,
  toFieldName,
} from '../../../../../../src/server/service/generator/read-set.ts';
import type { RedRecord } from '../../../../../../src/server/service/records/records.ts';
import type { Choice } from '../../../../../../src/server/service/records/reply.ts';
import { queue, stock, table } from '../../../../../../src/server/service/tables.ts';
import type { SiteWorld, WorldOptions } from '../../../../../support/site-world.ts';
import {
  balance,
  call,
  createWorld,
  deposit,
  FOLLOWER,
  MAIN_LEADER,
  US_LEADER,
  withdraw,
} from './partitioned-bank.ts';

const STRONG = { wantedStages: { tentative: false, causal: false, strong: true } };
const SITES = [MAIN_LEADER, US_LEADER, FOLLOWER];

const transfer = (from: string, to: string, amount: number) =>
  call('transfer', { from, to, amount });

/** The kinds of the records in a red log at a site. */
function kindsOf(world: SiteWorld, partition: number, site: number = FOLLOWER): string[] {
  const { red, partitions = [] } = world.copyLogs(site);
  const entries = partition === 0 ? red.entries : (partitions[0]?.entries ?? []);
  return entries.map(({ record }: { record: RedRecord }) => record.kind);
}

function balancesOf(world: SiteWorld): unknown[] {
  return SITES.map((site) => [
    world.read(site, balance('us/ann')),
    world.read(site, balance('eu/bob')),
  ]);
}

function createFunded(options: WorldOptions = {}): SiteWorld {
  const world = createWorld(options);
  world.submit(FOLLOWER, deposit('us/ann', 100));
  world.submit(FOLLOWER, deposit('eu/bob', 100));
  world.settle();
  return world;
}

const all = (item: unknown): unknown[] => SITES.map(() => item);

test.each([MAIN_LEADER, US_LEADER, FOLLOWER])(
  'a transfer from site %i is whole at all sites',
  (site) => {
    const world = createFunded();
    const moved = world.submit(site, transfer('us/ann', 'eu/bob', 30));
    world.settle();
    expect(moved.value).toBe(true);
    world.pass(50);
    expect(balancesOf(world)).toEqual(all([70, 130]));
    expect(kindsOf(world, 1)).toEqual(['operation']);
    expect(kindsOf(world, 0)).toEqual(['hold', 'release']);
  },
);

// @rule PART-G8f
test('a transfer that takes the last place of its home is executed', () => {
  const world = createFunded({ maxRedInFlight: 2 }); // One place for each log.
  const moved = world.submit(FOLLOWER, transfer('us/ann', 'eu/bob', 30));
  world.settle();
  world.pass(50);
  expect(moved.value).toBe(true);
});

test('a transfer into us has its home in main', () => {
  const world = createFunded();
  const moved = world.submit(FOLLOWER, transfer('eu/bob', 'us/ann', 30));
  world.settle();
  world.pass(50);
  expect(moved.value).toBe(true);
  expect(kindsOf(world, 0)).toEqual(['operation']);
  expect(kindsOf(world, 1)).toEqual(['hold', 'release']);
  expect(balancesOf(world)).toEqual(all([130, 70]));
});

test('a transfer that is refused by its generator changes nothing', () => {
  const world = createFunded();
  const refused = world.submit(FOLLOWER, transfer('us/ann', 'eu/bob', 300));
  world.settle();
  expect(refused.value).toBe(false);
  expect(balancesOf(world)).toEqual(all([100, 100]));
});

test('globals and locals on the same rows are all executed', () => {
  const world = createFunded();
  const outcomes = SITES.flatMap((site) => [
    world.submit(site, transfer('us/ann', 'eu/bob', 1)),
    world.submit(site, transfer('eu/bob', 'us/ann', 2)),
    world.submit(site, withdraw('us/ann', 3)),
    world.submit(site, withdraw('eu/bob', 4)),
  ]);
  for (let turn = 0; turn < 60; turn += 1) world.pass(50);
  expect(outcomes.map(({ value, code }) => code ?? value)).toEqual(outcomes.map(() => true));
  expect(balancesOf(world)).toEqual(all([100 - 3 + 6 - 9, 100 + 3 - 6 - 12]));
  for (const machine of world.machines)
    for (const { order } of machine!.red.lanes) expect(order.holds?.standing.size).toBe(0);
});

test('another site finishes a global whose site has stopped', () => {
  const world = createFunded();
  const isRecord = ({
    from,
    envelope,
  }: {
    from: number;
    envelope: { to: { partition: number } };
  }): boolean => from === FOLLOWER && envelope.to.partition === 1;
  world.submit(FOLLOWER, transfer('us/ann', 'eu/bob', 30));
  // The hold in main goes out. The site stops before its record does.
  world.settle(isRecord);
  world.drop(isRecord);
  world.crash(FOLLOWER);
  for (let turn = 0; turn < 20; turn += 1) world.pass(50);
  world.start(FOLLOWER);
  for (let turn = 0; turn < 20; turn += 1) world.pass(50);
  expect(balancesOf(world)).toEqual(all([70, 130]));
  expect(kindsOf(world, 0, MAIN_LEADER)).toContain('release');
});

// @rule PART-G5
test('two transfers that a site begins at once are executed one after the other', () => {
  const world = createFunded();
  const moved = [1, 2].map((amount) =>
    world.submit(FOLLOWER, transfer('us/ann', 'eu/bob', amount)),
  );
  const local = world.submit(FOLLOWER, withdraw('us/ann', 4));
  world.pass(100);
  expect([...moved, local].map(({ value }) => value)).toEqual([true, true, true]);
  expect(kindsOf(world, 1)).toEqual(['operation', 'operation', 'operation']);
  expect(kindsOf(world, 0)).toEqual(['hold', 'release', 'hold', 'release']);
});

// @rule PART-G5
test('a transfer that is a global only on top of an operation in flight takes its holds', () => {
  const world = createWorld();
  world.submit(FOLLOWER, deposit('us/eve', 100));
  world.settle();
  const [filled, moved] = [transfer('us/eve', 'us/ann', 50), transfer('us/ann', 'eu/bob', 30)].map(
    (operation) => world.submit(FOLLOWER, operation),
  );
  for (let turn = 0; turn < 10; turn += 1) world.pass(50);
  expect([filled!.value, moved!.value]).toEqual([true, true]);
  expect(kindsOf(world, 0)).toEqual(['hold', 'release']);
  expect(balancesOf(world)).toEqual(all([20, 30]));
});

// @rule PART-G9
test('a strong read waits for a hold on what it reads, and for no other', () => {
  const world = createFunded();
  world.submit(FOLLOWER, deposit('eu/dan', 7));
  world.settle();
  const isRecord = ({
    from,
    envelope,
  }: {
    from: number;
    envelope: { to: { partition: number } };
  }): boolean => from === FOLLOWER && envelope.to.partition === 1;
  world.submit(FOLLOWER, transfer('us/ann', 'eu/bob', 30));
  world.settle(isRecord);
  const [held, free] = ['eu/bob', 'eu/dan'].map((account) =>
    world.submit(US_LEADER, balance(account), STRONG),
  );
  world.settle(isRecord);
  expect([held!.value, free!.value]).toEqual([undefined, 7]);
  world.settle();
  world.pass(50);
  expect(held!.value).toBe(130);
});

// @rule PART-G4
test('what a global takes from a field of the red order counts as read', () => {
  const tables = { stores: table({ items: queue<string>(), left: stock() }) };
  const none = { names: new Set<string>(), ranges: [] };
  const effect = (field: string, action: string) => ({
    table: 'stores',
    key: 'a',
    field,
    action,
    value: 1,
  });
  const effects = [effect('items', 'pop'), effect('left', 'take'), effect('left', 'add')];
  const { names } = findGlobalReads(
    none,
    { shadow: 'take', args: {}, effects } as unknown as Choice,
    tables,
  );
  expect([...names]).toEqual([
    toFieldName('stores', 'a', 'items'),
    toFieldName('stores', 'a', 'left'),
  ]);
  const added = {
    shadow: 'add',
    args: {},
    effects: [effect('items', 'push'), effect('left', 'add')],
  };
  expect(findGlobalReads(none, added as unknown as Choice, tables).names.size).toBe(0);
});

const isToUs = ({
  from,
  envelope,
}: {
  from: number;
  envelope: { to: { partition: number } };
}): boolean => from === FOLLOWER && envelope.to.partition === 1;

// @rule PART-G10
test('a strong read of two partitions runs again if a row was written meanwhile', () => {
  const world = createFunded({ maxAttempts: 2 });
  const read = world.submit(FOLLOWER, call('sum', { prefix: '' }), STRONG);
  world.settle(isToUs); // The check of us has not left.
  world.submit(US_LEADER, withdraw('us/ann', 10));
  world.settle(isToUs);
  expect(read.value).toBeUndefined();
  world.settle();
  expect(read.value).toBe(190);
});

// @rule PART-G10
test('a strong read of two partitions after maxAttempts → CONFLICT names the row', () => {
  const world = createFunded({ maxAttempts: 1 });
  const read = world.submit(FOLLOWER, call('sum', { prefix: '' }), STRONG);
  world.settle(isToUs);
  world.submit(US_LEADER, withdraw('us/ann', 10));
  world.settle();
  expect(read).toMatchObject({ code: 'CONFLICT', retryable: true });
});

// @rule PART-G10
test('a strong read of two partitions is never between the halves of a transfer', () => {
  const world = createFunded({ maxAttempts: 100 });
  const reads = [];
  for (let turn = 0; turn < 20; turn += 1) {
    world.submit(SITES[turn % 3]!, transfer('us/ann', 'eu/bob', 1));
    reads.push(world.submit(SITES[(turn + 1) % 3]!, call('sum', { prefix: '' }), STRONG));
    world.pass(turn % 4);
  }
  for (let turn = 0; turn < 60; turn += 1) world.pass(50);
  expect(reads.map(({ value, code }) => code ?? value)).toEqual(reads.map(() => 200));
});

// @rule PART-G10a
test('a strong read whose operation had rows of two partitions before checks all logs at once, without a marker', () => {
  const world = createFunded();
  const marked = world.submit(FOLLOWER, call('sum', { prefix: '' }), STRONG);
  world.settle();
  expect(marked.value).toBe(200);
  const before = [0, 1].map((log) => kindsOf(world, log).length);
  const early = world.submit(FOLLOWER, call('sum', { prefix: '' }), STRONG);
  world.settle();
  expect(early.value).toBe(200);
  expect([0, 1].map((log) => kindsOf(world, log).slice(before[log]))).toEqual([
    ['check'],
    ['check'],
  ]);
});

// @rule PART-G10a
test('a strong read without a marker is executed again if a row was written meanwhile, and that counts as the first time', () => {
  const world = createFunded({ maxAttempts: 1 });
  world.submit(FOLLOWER, call('sum', { prefix: '' }), STRONG);
  world.settle();
  const read = world.submit(FOLLOWER, call('sum', { prefix: '' }), STRONG);
  world.settle(isToUs); // The check of us has not left.
  world.submit(US_LEADER, withdraw('us/ann', 10));
  world.settle(isToUs);
  expect(read.value).toBeUndefined();
  world.settle();
  expect(read.value).toBe(190);
});

// @rule PART-G10a
test('a strong read without a marker shows the blue causes of red operations before its place', () => {
  const world = createFunded();
  world.submit(MAIN_LEADER, deposit('eu/cat', 100));
  const pair = call('pair', { first: 'eu/bob', second: 'us/ann', number: 1 });
  world.submit(FOLLOWER, pair, STRONG);
  world.settle();
  const read = world.submit(FOLLOWER, pair, STRONG);
  const isFromFollower = ({ from }: { from: number }): boolean => from === FOLLOWER;
  world.settle(isFromFollower);
  world.submit(MAIN_LEADER, deposit('eu/bob', 5));
  world.submit(MAIN_LEADER, withdraw('eu/cat', 1));
  world.settle(isFromFollower);
  world.settle();
  expect(read.value).toEqual([105, 100]);
});

test('a strong read shows a global that has ended', () => {
  const world = createFunded();
  world.submit(FOLLOWER, transfer('us/ann', 'eu/bob', 30));
  world.settle();
  const read = world.submit(US_LEADER, balance('eu/bob'), STRONG);
  for (let turn = 0; turn < 10; turn += 1) world.pass(50);
  expect(read.value).toBe(130);
});

// Otherwise another site would finish the transfer by its hold, with the stamp of that clock.
// @rule RB-Q1
test('a transfer of a site whose clock is far ahead holds nothing until the clock is right', () => {
  const world = createFunded();
  world.aheadMs[FOLLOWER] = 5000;
  const moved = world.submit(FOLLOWER, transfer('us/ann', 'eu/bob', 30));
  world.pass(300);
  expect(balancesOf(world)).toEqual(all([100, 100]));
  expect(kindsOf(world, 0)).toEqual([]);
  world.aheadMs[FOLLOWER] = 0;
  world.pass(300);
  expect(moved.value).toBe(true);
  expect(balancesOf(world)).toEqual(all([70, 130]));
});
