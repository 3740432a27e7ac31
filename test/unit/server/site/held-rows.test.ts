/** Rows that globals hold for long, since the home log of these globals is away. */
import { expect, test } from 'vitest';
import type { HeldRowsReport } from '../../../../src/server/site/core/site-core.ts';
import { siteAt } from '../../../support/origins.ts';
import type { SiteWorld } from '../../../support/site-world.ts';
import {
  balance,
  call,
  createWorld,
  deposit,
  FOLLOWER,
  MAIN_LEADER,
  US_LEADER,
} from './lane/partitions/partitioned-bank.ts';

const [MAIN, US] = [0, 1] as const;

/**
 * The follower moves money out of `us`. The hold in `main` stands, and the leader of `us` stops
 * before the record.
 */
function createHeld(): { world: SiteWorld; reports: HeldRowsReport[] } {
  const reports: HeldRowsReport[] = [];
  const world = createWorld();
  world.submit(FOLLOWER, deposit('us/ann', 100));
  world.settle();
  // Of the sites that run, this one alone reports.
  world.options = { ...world.options, observer: { onRowsHeld: (held) => void reports.push(held) } };
  world.crash(FOLLOWER);
  world.start(FOLLOWER);
  const isForUs = ({ envelope }: { envelope: { to: { partition: number } } }): boolean =>
    envelope.to.partition === US;
  world.submit(FOLLOWER, call('transfer', { from: 'us/ann', to: 'eu/bob', amount: 1 }));
  world.settle(isForUs);
  world.drop(isForUs);
  world.crash(US_LEADER);
  world.machines[FOLLOWER]?.setConnected(siteAt(US_LEADER), false, world.nowMs);
  return { world, reports };
}

function passSeconds(world: SiteWorld, seconds: number): void {
  for (let turn = 0; turn < seconds * 20; turn += 1) world.pass(50);
}

// @rule PART-A1
test('a hold whose home log is away → reported once after 10 s, until it has ended', () => {
  const { world, reports } = createHeld();
  expect(world.machines[FOLLOWER]?.isBusy).toBe(true);
  passSeconds(world, 9);
  expect(reports).toEqual([]);
  passSeconds(world, 20);
  const leader = expect.stringMatching(
    /^waits for the site .* which orders those of the partition 'us'/,
  ) as string;
  expect(reports).toEqual([
    { partition: MAIN, home: US, rows: ['accounts/eu/bob'], obstacle: leader, awaitedSites: [] },
  ]);
  expect(world.read(MAIN_LEADER, balance('eu/bob'))).toBe(0);

  world.start(US_LEADER);
  passSeconds(world, 5);
  expect(world.read(FOLLOWER, balance('eu/bob'))).toBe(1);
  expect(world.machines[FOLLOWER]?.isBusy).toBe(false);
  expect(reports).toHaveLength(1);
});
