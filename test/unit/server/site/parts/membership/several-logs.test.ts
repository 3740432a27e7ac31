/** Members change while there are several red logs: each log has them from its copy on. */
// @rule PART-M15, PART-M16, PART-M17
import { expect, test } from 'vitest';
import { isOfLog, MemberWorld, siteAt } from '../../../../../support/member-world.ts';
import {
  balance,
  deposit,
  FOLLOWER,
  MAIN_LEADER,
  TWO_LOGS,
  US_LEADER,
  withdraw,
} from '../../lane/partitions/partitioned-bank.ts';
import type { WorldOptions } from '../../../../../support/site-world.ts';

/** Three sites and a fourth, where both accounts have money. */
function createWorld(options: WorldOptions = {}): MemberWorld {
  const world = new MemberWorld({ ...TWO_LOGS, siteCount: 4, ...options });
  for (const account of ['us/ann', 'eu/bob']) world.submit(FOLLOWER, deposit(account, 100));
  world.pass(50);
  return world;
}

const FOURTH = 3;

test('a site joins → it writes in each partition, and counts as a voter of each', () => {
  const world = createWorld();
  world.changeMembers(MAIN_LEADER, 'tok', 'd1');
  const joined = world.startFrom(US_LEADER);
  world.pass(200);
  const outcomes = [
    world.submit(joined, withdraw('us/ann', 10)),
    world.submit(joined, withdraw('eu/bob', 20)),
  ];
  world.pass(100);
  expect(outcomes.map(({ value }) => value)).toEqual([true, true]);
  // Three of five are a majority.
  world.crash(FOURTH);
  world.crash(FOLLOWER);
  const later = world.submit(joined, withdraw('us/ann', 10));
  world.pass(100);
  expect([later.value, world.read(US_LEADER, balance('us/ann'))]).toEqual([true, 80]);
});

test('a red log lacks the copy at one site → the change waits for that site', () => {
  const world = createWorld();
  world.change(MAIN_LEADER, { name: 'tok', directory: 'd1' });
  world.passWithout(isOfLog(1, FOLLOWER));
  expect(world.statesAt(MAIN_LEADER)[4]).toMatch(/^tok \d+ joining$/);
  world.pass(100);
  expect(world.statesAt(MAIN_LEADER)[4]).toMatch(/^tok \d+ open$/);
});

test('a record of a retired site before the copy → counts at all sites, however far they are in main', () => {
  const world = createWorld();
  // The record is in the log of us, and the fourth site does not have it yet.
  const isHeld = isOfLog(1, FOURTH);
  world.submit(FOLLOWER, withdraw('us/ann', 10));
  world.settle(isHeld);
  world.change(MAIN_LEADER, { name: 't', directory: null });
  world.settle(isHeld);
  world.pass(200);
  expect(world.statesAt(FOURTH)[FOLLOWER]).toMatch(/closed/);
  expect(
    [MAIN_LEADER, US_LEADER, FOURTH].map((site) => world.read(site, balance('us/ann'))),
  ).toEqual([90, 90, 90]);
});

test('a record of a site that has a change, in a log that has no copy of it yet → counts', () => {
  const world = createWorld();
  // The leader of us does not have the change yet.
  const isHeld = isOfLog(0, US_LEADER);
  world.change(MAIN_LEADER, { name: 'tok', directory: 'd1' });
  world.settle(isHeld);
  const outcome = world.submit(FOLLOWER, withdraw('us/ann', 10));
  world.settle(isHeld);
  world.pass(200);
  expect(outcome.value).toBe(true);
});

test('the leader of us crashes before its copy is on the disk → appends it at its next start', () => {
  const world = createWorld();
  world.change(MAIN_LEADER, { name: 'tok', directory: 'd1' });
  const syncMain = (): void => {
    for (const site of world.machines.keys())
      world.sync(site, site === US_LEADER ? ['local', 'red'] : undefined);
  };
  do syncMain();
  while (world.deliver());
  world.crash(US_LEADER);
  world.start(US_LEADER);
  world.pass(200);
  expect(world.statesAt(MAIN_LEADER)[4]).toMatch(/^tok \d+ open$/);
});

test('a change that closes the leader of us → void, and names the log', () => {
  const world = createWorld();
  expect(world.changeMembers(MAIN_LEADER, 's', null).problem).toBe(
    's is the leader of the red log of us: make another site the leader first',
  );
});

test('a voter of us is rebuilt → its new incarnation confirms in its place', () => {
  const world = createWorld({
    redLogs: [{ leader: TWO_LOGS.redLogs![0]!.leader, voters: ['s', 't', 'u'] }],
  });
  world.crash(FOLLOWER);
  world.changeMembers(MAIN_LEADER, 't', 'd2');
  const rebuilt = world.startFrom(MAIN_LEADER);
  world.pass(200);
  world.crash(FOURTH);
  const outcome = world.submit(rebuilt, withdraw('us/ann', 10));
  world.pass(100);
  expect(outcome.value).toBe(true);
});

test('a voter of us that was rebuilt starts again → it knows of its vote before it hears of another site', () => {
  const world = createWorld();
  world.crash(FOLLOWER);
  world.change(MAIN_LEADER, { name: 't', directory: 'd2' });
  world.passWithout(isOfLog(0, FOURTH));
  const rebuilt = world.startFrom(MAIN_LEADER);
  const stateInUs = (): string => {
    const { members } = world.machine(rebuilt).red.lanes.at(1).order;
    return members.get(members.find('t')!).state;
  };
  // Entries that follow from later messages would prove it too.
  world.passWithout(isOfLog(1, rebuilt));
  while (stateInUs() !== 'open') {
    for (const site of world.machines.keys()) world.sync(site);
    if (!world.deliver()) world.tick();
  }
  world.sync(rebuilt);
  world.crash(rebuilt);
  world.start(rebuilt);
  expect(stateInUs()).toBe('open');
});

test('two of three voters of us are lost and retired → its last voter confirms alone', () => {
  const world = new MemberWorld({
    ...TWO_LOGS,
    siteCount: 5,
    redLogs: [{ leader: siteAt(FOURTH), voters: ['s', 't', 'u'] }],
  });
  world.submit(MAIN_LEADER, deposit('us/ann', 100));
  world.pass(50);
  for (const site of [US_LEADER, FOLLOWER]) world.crash(site);
  for (const name of ['s', 't']) {
    world.change(MAIN_LEADER, { name, directory: null });
    world.pass(100);
  }
  expect(world.statesAt(MAIN_LEADER).slice(1, 3)).toEqual([
    expect.stringMatching(/^s .*closed/),
    expect.stringMatching(/^t .*closed/),
  ]);
  const outcome = world.submit(MAIN_LEADER, withdraw('us/ann', 10));
  world.pass(100);
  expect(outcome.value).toBe(true);
});
