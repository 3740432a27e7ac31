/**
 * Sites with several red logs: what each log orders, what waits for which, and what a restart
 * knows.
 */
import { expect, test } from 'vitest';
import type { RedRecord } from '../../../../../../src/server/service/records/records.ts';
import type { SiteWorld, WorldOptions } from '../../../../../support/site-world.ts';
import { siteAt } from '../../../../../support/origins.ts';
import { NAMES } from '../../sites.ts';
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
import { saveAll } from '../../../../../support/saved-rows.ts';

const STRONG = { wantedStages: { tentative: false, causal: false, strong: true } };

/** The records that a site has of the red log of `us`. */
const recordsOfUs = (world: SiteWorld, site: number): RedRecord[] =>
  (world.copyLogs(site).partitions?.[0]?.entries ?? []).map(({ record }) => record);

/** Both accounts have money at all sites. */
function createFunded(options: WorldOptions = {}): SiteWorld {
  const world = createWorld(options);
  world.submit(FOLLOWER, deposit('us/ann', 100));
  world.submit(FOLLOWER, deposit('eu/bob', 100));
  world.settle();
  return world;
}

test('a red operation is in the log of its partition alone, with the name of the partition', () => {
  const world = createFunded();
  const [us, main] = [
    world.submit(FOLLOWER, withdraw('us/ann', 10)),
    world.submit(FOLLOWER, withdraw('eu/bob', 20)),
  ];
  world.settle();
  expect([us.value, main.value]).toEqual([true, true]);
  const [inMain, inUs] = [
    world.copyLogs(MAIN_LEADER).red.entries.length,
    recordsOfUs(world, MAIN_LEADER),
  ];
  expect([inMain, inUs.length]).toEqual([1, 1]);
  expect(inUs[0]).toMatchObject({ kind: 'operation', partition: 1 });
  const balances = [MAIN_LEADER, US_LEADER, FOLLOWER].map((site) => [
    world.read(site, balance('us/ann')),
    world.read(site, balance('eu/bob')),
  ]);
  expect(balances).toEqual([
    [90, 80],
    [90, 80],
    [90, 80],
  ]);
});

test('the leader of main is away → us goes on, and main waits', () => {
  const world = createFunded();
  world.crash(MAIN_LEADER);
  const [us, main] = [
    world.submit(FOLLOWER, withdraw('us/ann', 10)),
    world.submit(FOLLOWER, withdraw('eu/bob', 20)),
  ];
  const read = world.submit(FOLLOWER, balance('us/ann'), STRONG);
  world.settle();
  expect([us.value, read.value, main]).toEqual([true, 90, {}]);
  world.start(MAIN_LEADER);
  world.pass(100);
  expect(main.value).toBe(true);
});

// @rule PART-G2
test('the stamp of a red operation is above those of other logs that its site has seen', () => {
  const world = createFunded();
  world.aheadMs[MAIN_LEADER] = 900;
  world.submit(MAIN_LEADER, withdraw('eu/bob', 10));
  world.settle();
  world.submit(FOLLOWER, withdraw('us/ann', 10));
  world.settle();
  const { stable } = world.machines[FOLLOWER]!.state;
  const [main = 0, us = 0] = world.origins.logs.map((log) => stable[log]);
  expect(main).toBeGreaterThanOrEqual(900_000);
  expect(us).toBeGreaterThan(main);
});

// @rule PART-G3
test('a record waits at its gate for another log, and not for its own', () => {
  const world = createFunded();
  world.submit(FOLLOWER, withdraw('eu/bob', 10));
  world.settle(({ to, envelope }) => to === US_LEADER && envelope.to.partition === 0);
  const late = world.submit(FOLLOWER, withdraw('us/ann', 10));
  world.settle(({ to, envelope }) => to === US_LEADER && envelope.to.partition === 0);
  expect(late.value).toBe(true);
  expect(world.read(US_LEADER, balance('us/ann'))).toBe(100);
  world.settle();
  expect([
    world.read(US_LEADER, balance('us/ann')),
    world.read(US_LEADER, balance('eu/bob')),
  ]).toEqual([90, 90]);
});

// @rule PART-G3b
test('after a restart, an own operation that depends on us is shown while the leader of us is away', () => {
  // A site that is no voter cannot see from its own copy of the log what is committed.
  const voters = [NAMES[MAIN_LEADER], NAMES[US_LEADER]];
  const world = createFunded({ redLogs: [{ leader: siteAt(US_LEADER), voters }] });
  world.submit(FOLLOWER, withdraw('us/ann', 10));
  world.settle();
  world.submit(FOLLOWER, deposit('us/ann', 5));
  world.settle();
  world.crash(US_LEADER);
  world.crash(FOLLOWER);
  world.start(FOLLOWER);
  expect(world.read(FOLLOWER, balance('us/ann'))).toBe(95);
});

test('a start from a checkpoint has the certifiers and places of all logs', () => {
  const world = createFunded();
  world.submit(FOLLOWER, withdraw('us/ann', 10));
  world.submit(FOLLOWER, withdraw('eu/bob', 20));
  world.settle();
  const machine = world.machines[FOLLOWER]!;
  const rows = Object.entries(machine.sections).map(
    ([name, section]) => [name, new Map(saveAll(section))] as const,
  );
  const { smallParts, contained } = machine.createCut();
  expect(contained).toMatchObject({ red: 1, 'red-1': 1 });
  const logs = world.copyLogs(FOLLOWER);
  world.crash(FOLLOWER);
  world.start(FOLLOWER, {
    ...logs,
    checkpoint: { sections: Object.fromEntries(rows), smallParts },
  });
  world.submit(MAIN_LEADER, withdraw('us/ann', 30));
  const conflicting = world.submit(FOLLOWER, withdraw('us/ann', 50));
  world.settle();
  world.pass(50);
  expect(conflicting).not.toEqual({});
  const results = [MAIN_LEADER, FOLLOWER].map((site) => [
    world.read(site, balance('us/ann')),
    world.machines[site]!.progress.reds,
  ]);
  expect(results[1]).toEqual(results[0]);
});

test.each([['a red effect on rows without a partition', call('setFeeByRed', { amount: 1 })]])(
  '%s → FINAL_FAILED, and nothing was done',
  (_, operation) => {
    const world = createFunded();
    const outcome = world.submit(FOLLOWER, operation);
    world.settle();
    expect(outcome).toMatchObject({ code: 'FINAL_FAILED', retryable: false });
    const after = [
      world.read(MAIN_LEADER, balance('us/ann')),
      world.read(MAIN_LEADER, balance('eu/bob')),
    ];
    expect(after).toEqual([100, 100]);
  },
);

test('rows without a partition may be read by red operations of any partition', () => {
  const world = createFunded();
  world.submit(MAIN_LEADER, call('setFee', { amount: 3 }));
  world.settle();
  const outcomes = [
    world.submit(FOLLOWER, withdraw('us/ann', 10)),
    world.submit(FOLLOWER, withdraw('eu/bob', 10)),
  ];
  world.settle();
  expect(outcomes.map(({ value }) => value)).toEqual([true, true]);
  expect(world.read(FOLLOWER, balance('us/ann'))).toBe(87);
});

test.each([
  ['one partition', 'us/', 100],
  ['no partition', 'none/', 0],
])('a strong scan inside the prefix of %s is in its log', (_, prefix, sum) => {
  const world = createFunded();
  const read = world.submit(FOLLOWER, call('sum', { prefix }), STRONG);
  world.settle();
  expect(read.value).toBe(sum);
});

test('a scan over several partitions gives all, as a strong read and as a causal one', () => {
  const world = createFunded();
  const read = world.submit(FOLLOWER, call('sum', { prefix: '' }), STRONG);
  world.settle();
  expect(read.value).toBe(200);
  expect(world.read(FOLLOWER, call('sum', { prefix: '' }))).toBe(200);
});

test('what waits for us leaves the places of main free', () => {
  const world = createWorld({ maxRedInFlight: 4 });
  world.submit(FOLLOWER, deposit('us/ann', 100));
  world.settle();
  world.crash(US_LEADER);
  const ofUs = [1, 2, 3].map(() => world.submit(FOLLOWER, withdraw('us/ann', 1)));
  const ofMain = world.submit(FOLLOWER, call('withdraw', { account: 'eu/bob', amount: 1 }));
  world.settle();
  expect(ofUs.map(({ code }) => code)).toEqual([undefined, undefined, 'OVERLOADED']);
  expect(ofMain.value).toBe(false);
});

test('voters of us confirm its operations without the other sites', () => {
  const world = createWorld({
    redLogs: [{ leader: siteAt(US_LEADER), voters: [NAMES[US_LEADER], NAMES[FOLLOWER]] }],
  });
  world.submit(FOLLOWER, deposit('us/ann', 100));
  world.settle();
  world.crash(MAIN_LEADER);
  const withVoters = world.submit(FOLLOWER, withdraw('us/ann', 10));
  world.settle();
  expect(withVoters.value).toBe(true);
  world.crash(FOLLOWER);
  world.start(MAIN_LEADER);
  const alone = world.submit(US_LEADER, withdraw('us/ann', 10));
  world.pass(50);
  expect(alone).toEqual({});
});

// @rule PART-I4
test('the leader of us on an older directory, whose own stream is whole → stops at the word of another site', () => {
  const world = createFunded();
  const older = world.copyLogs(US_LEADER);
  world.submit(FOLLOWER, withdraw('us/ann', 10));
  world.settle();
  world.crash(US_LEADER);
  world.start(US_LEADER, older);
  world.settle();
  expect(world.forked).toEqual([
    [US_LEADER, 'h has 1 entries of the red log of us, and there are 0 here'],
  ]);
});
