/** What is decided in the home log of an operation alone, and what a start asks of all logs. */
import { expect, test } from 'vitest';
import { siteAt } from '../../../../../support/origins.ts';
import type { SiteWorld } from '../../../../../support/site-world.ts';
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

// @rule PART-G1
test('a refusal without red rows, retried at another site → one answer, of its record in the home log', () => {
  const world = createWorld();
  const identity = { id: 'ann/1', home: FOLLOWER };
  const first = world.ask(FOLLOWER, withdraw('us/ann', 1), identity);
  world.settle();
  world.submit(FOLLOWER, deposit('us/ann', 100));
  world.settle();
  const again = world.ask(MAIN_LEADER, withdraw('us/ann', 1), { ...identity, hop: 1 });
  world.settle();
  world.pass(50);
  expect([first.value, again.value]).toEqual([false, false]);
  expect(world.read(MAIN_LEADER, balance('us/ann'))).toBe(100);
  const { red, partitions } = world.copyLogs(MAIN_LEADER);
  expect(red.entries).toEqual([]);
  expect(partitions?.[0]?.entries[0]).toMatchObject({ record: { id: 'ann/1' } });
});

// @rule PART-G3b
test('a site of four restarts alone → what it did on top of us is shown again', () => {
  // Of more than three voters, one does not know by itself what is committed.
  const world = createWorld({ siteCount: 4 });
  world.submit(FOLLOWER, deposit('us/ann', 100));
  world.settle();
  world.submit(FOLLOWER, withdraw('us/ann', 10));
  world.settle();
  world.pass(20);
  world.submit(FOLLOWER, deposit('us/ann', 5));
  world.settle();
  for (const site of [0, 1, 2, 3]) world.crash(site);
  world.start(FOLLOWER, undefined, false);
  expect(world.read(FOLLOWER, balance('us/ann'))).toBe(95);
});

function countOwnWatermarks(world: SiteWorld): number {
  const { entries } = world.copyLogs(FOLLOWER).local;
  return entries.filter(
    (entry) =>
      'operation' in entry &&
      entry.operation.site === siteAt(FOLLOWER) &&
      entry.operation.shadow === '',
  ).length;
}

// @rule PART-B5
test('a restart → removals are forgotten only once a marker has passed in each log', () => {
  const world = createWorld({ removalsPerWatermark: 1 });
  world.submit(FOLLOWER, call('tag', { account: 'us/ann' }));
  world.settle();
  const countWatermarks = (): number => countOwnWatermarks(world);
  world.crash(FOLLOWER);
  world.crash(US_LEADER);
  world.start(FOLLOWER);
  world.submit(FOLLOWER, call('untag', { account: 'us/ann' }));
  world.pass(50);
  expect(countWatermarks()).toBe(0);
  world.start(US_LEADER);
  world.pass(50);
  expect(countWatermarks()).toBe(1);
});

// @rule PART-B5
test('a restart → no watermark while a hold of an earlier start stands, since another site may end its global', () => {
  const world = createWorld({ removalsPerWatermark: 1 });
  world.submit(FOLLOWER, deposit('us/ann', 100));
  world.submit(FOLLOWER, call('tag', { account: 'us/ann' }));
  world.settle();
  const countWatermarks = (): number => countOwnWatermarks(world);
  const isToUs = ({ envelope }: { envelope: { to: { partition: number } } }): boolean =>
    envelope.to.partition === 1;
  const isCommit = ({ envelope: { message } }: { envelope: { message: object } }): boolean =>
    JSON.stringify(message).includes('"proposer"');
  world.submit(FOLLOWER, call('transfer', { from: 'us/ann', to: 'eu/bob', amount: 30 }));
  world.settle(isToUs); // The hold in main stands. The record has not left.
  world.drop(isToUs);
  world.crash(FOLLOWER);
  world.start(FOLLOWER);
  world.submit(FOLLOWER, call('untag', { account: 'us/ann' }));
  world.settle(isCommit);
  world.drop(isCommit);
  const standing = () => world.machines[FOLLOWER]!.red.lanes.at(0).order.holds!.standing.size;
  expect([standing(), countWatermarks()]).toEqual([1, 0]);
  for (let turn = 0; turn < 20; turn += 1) world.pass(50);
  expect([standing(), countWatermarks()]).toEqual([0, 1]);
});
