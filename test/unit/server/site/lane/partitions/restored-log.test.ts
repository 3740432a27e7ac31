/**
 * A red log that goes on without records that were confirmed, while other logs go on with all of
 * theirs.
 */
// @rule CLU-G1a, PART-G12
import { expect, test } from 'vitest';
import {
  findNamedEntries,
  mergeNamedEntries,
} from '../../../../../../src/server/node/red-log/named-entries.ts';
import type { Origin } from '../../../../../../src/server/service/records/origin.ts';
import type { RedRecord } from '../../../../../../src/server/service/records/records.ts';
import type { Envelope } from '../../../../../../src/server/site/wire/envelope.ts';
import type { LogOpening } from '../../../../../../src/server/site/site-options.ts';
import { siteAt } from '../../../../../support/origins.ts';
import { SiteWorld } from '../../../../../support/site-world.ts';
import { NAMES } from '../../sites.ts';
import {
  balance,
  call,
  createWorld,
  deposit,
  FOLLOWER,
  MAIN_LEADER,
  partitionedBank,
  US_LEADER,
  withdraw,
} from './partitioned-bank.ts';

const US = 1;
const KEPT = [MAIN_LEADER, FOLLOWER] as const;

const toNames = (sites: readonly number[]): string[] => sites.map((site) => NAMES[site] as string);

/** Whether a message is about the log of `us`, and for a site that will be left. */
const isOfUs = ({ to, envelope }: { to: number; envelope: Envelope }): boolean =>
  to !== US_LEADER && envelope.to.partition === US;

function kindsOfUs(world: SiteWorld, site: number): string[] {
  const entries = world.copyLogs(site).partitions?.[0]?.entries ?? [];
  return entries.map(({ record }: { record: RedRecord }) => record.kind);
}

/**
 * The site that leads the log of `us` is lost. The others have the record of a global in `main`,
 * and a blue operation, and both depend on the end of that log, which they lack. Returns what the
 * log goes on with.
 */
function loseEndOfUs(): { readonly world: SiteWorld; readonly opening: LogOpening } {
  // Its leader alone confirms what is in the log of `us`.
  const redLogs = [{ leader: siteAt(US_LEADER), voters: toNames([US_LEADER]) }];
  const world = createWorld({ redLogName: 'test', redLogs });
  world.submit(FOLLOWER, deposit('us/ann', 100));
  world.submit(FOLLOWER, deposit('eu/bob', 100));
  world.settle();
  world.submit(US_LEADER, withdraw('us/ann', 10));
  world.settle();
  // What the lost site has seen of its log has later stamps than the clocks of the others.
  world.aheadMs[US_LEADER] = 900;
  const moved = world.submit(
    US_LEADER,
    call('transfer', { from: 'eu/bob', to: 'us/ann', amount: 30 }),
  );
  world.settle(isOfUs);
  world.submit(US_LEADER, deposit('us/ann', 1));
  world.settle(isOfUs);
  expect(moved.value).toBe(true);
  expect(kindsOfUs(world, US_LEADER)).toEqual(['operation', 'hold', 'release']);
  world.drop();
  for (const site of [...KEPT, US_LEADER]) world.crash(site);
  const log = world.origins.logs[US] as Origin;
  const named = KEPT.map((site) => findNamedEntries(world.copyLogs(site), US, log));
  return { world, opening: { ...mergeNamedEntries(named), length: 1 } };
}

/** Starts the sites that are left, of which one leads the log of `us`. */
function goOn(world: SiteWorld, opening: LogOpening | undefined): void {
  const redLogs = [{ leader: siteAt(FOLLOWER), voters: toNames(KEPT), opening }];
  world.options = { generation: 1, redLogs };
  for (const site of KEPT) world.start(site);
  world.pass(50);
}

const balancesOf = (world: SiteWorld): unknown[] =>
  KEPT.map((site) => [world.read(site, balance('us/ann')), world.read(site, balance('eu/bob'))]);

test('what depends on the lost end is shown, and the rows of a committed global are held until it is applied', () => {
  const { world, opening } = loseEndOfUs();
  expect(opening.holds).toHaveLength(1);
  goOn(world, opening);
  expect(balancesOf(world)).toEqual([
    [121, 70],
    [121, 70],
  ]);
  expect(kindsOfUs(world, MAIN_LEADER)).toEqual(['operation', 'opening', 'release']);
  for (const site of KEPT)
    for (const { order } of world.machines[site]!.red.lanes)
      expect(order.holds?.standing.size).toBe(0);
  const taken = world.submit(MAIN_LEADER, withdraw('us/ann', 20));
  world.settle();
  expect(taken.value).toBe(true);
});

test('without an opening, nothing of that is shown', () => {
  const { world } = loseEndOfUs();
  goOn(world, undefined);
  expect(balancesOf(world)).toEqual([
    [90, 100],
    [90, 100],
  ]);
});

test('a leader that is started again opens its log once, also if the first opening was not stored', () => {
  const { world, opening } = loseEndOfUs();
  const redLogs = [{ leader: siteAt(FOLLOWER), voters: toNames(KEPT), opening }];
  world.options = { generation: 1, redLogs };
  world.start(FOLLOWER);
  world.crash(FOLLOWER);
  expect(kindsOfUs(world, FOLLOWER)).toEqual(['operation']);
  goOn(world, opening);
  world.crash(FOLLOWER);
  world.start(FOLLOWER);
  world.pass(50);
  expect(kindsOfUs(world, FOLLOWER)).toEqual(['operation', 'opening', 'release']);
});

test('a log that is the only one begins with an opening too: a stamp of the lost end is covered', () => {
  const world = new SiteWorld({ service: partitionedBank, siteCount: 1, redLogName: 'test' });
  world.submit(0, deposit('ann', 100));
  world.settle();
  world.submit(0, withdraw('ann', 10));
  world.settle();
  const main = world.origins.logs[0] as Origin;
  const stampOf = (): number => world.machines[0]!.state.stable[main] ?? 0;
  const named = stampOf() + 500_000;
  world.crash(0);
  world.options = { generation: 1, redOpening: { stamp: named, holds: [], length: 1 } };
  world.start(0);
  world.settle();
  expect(stampOf()).toBeGreaterThan(named);
  const taken = world.submit(0, withdraw('ann', 20));
  world.settle();
  expect([taken.value, world.read(0, balance('ann'))]).toEqual([true, 70]);
});
