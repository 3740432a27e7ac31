/** Globals of us while the leader of main is away: nothing of them is proposed. */
import { expect, test } from 'vitest';
import { DEFAULT_SEND_WINDOWS } from '../../../../../../src/server/log/send-windows.ts';
import type { SiteWorld } from '../../../../../support/site-world.ts';
import { siteAt } from '../../../../../support/origins.ts';
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

const COUNT = 30;

/** A site whose link to the leader of main is lost for this time. */
function createCutOff(ms: number): SiteWorld {
  const world = createWorld({
    maxRedInFlight: 20,
    windows: { ...DEFAULT_SEND_WINDOWS, maxProposed: 4 },
  });
  for (let n = 0; n <= COUNT; n += 1) world.submit(FOLLOWER, deposit(`us/${n}`, 100));
  world.settle();
  world.crash(MAIN_LEADER);
  world.machines[FOLLOWER]?.setConnected(siteAt(MAIN_LEADER), false, world.nowMs);
  world.pass(ms);
  return world;
}

const transfer = (n: number) => call('transfer', { from: `us/${n}`, to: 'eu/bob', amount: 1 });

// @rule PART-G8f
test('it is known → they end with UNAVAILABLE, and leave the places of us free', () => {
  const world = createCutOff(4000);
  const moved = Array.from({ length: COUNT }, (_, n) => {
    const outcome = world.submit(FOLLOWER, transfer(n));
    world.pass(20);
    return outcome;
  });
  expect(moved.map(({ code }) => code)).toEqual(moved.map(() => 'UNAVAILABLE'));
  const local = world.submit(FOLLOWER, withdraw(`us/${COUNT}`, 1));
  world.pass(100);
  expect(local.value).toBe(true);
});

// @rule PART-G8f
test('the caller leaves → nothing was done, now or once it is back', () => {
  const world = createCutOff(4000);
  const moved = world.submit(FOLLOWER, transfer(1));
  world.abandon(FOLLOWER);
  expect(moved.code).toBe('ABORTED');
  world.start(MAIN_LEADER);
  world.machines[FOLLOWER]?.setConnected(siteAt(MAIN_LEADER), true, world.nowMs);
  world.pass(500);
  expect(world.read(FOLLOWER, call('balance', { account: 'us/1' }))).toBe(100);
});

const STRONG = { wantedStages: { tentative: false, causal: false, strong: true } };

/**
 * Two accounts, and a transfer between them while a leader is away, which its site does not know
 * yet.
 */
function beginTransfer(awaySite: number, from: string, to: string): SiteWorld {
  const world = createWorld();
  for (const account of [from, to]) world.submit(FOLLOWER, deposit(account, 100));
  world.settle();
  world.crash(awaySite);
  world.submit(FOLLOWER, call('transfer', { from, to, amount: 30 }));
  world.settle();
  return world;
}

function loseLink(world: SiteWorld, awaySite: number): void {
  world.machines[FOLLOWER]?.setConnected(siteAt(awaySite), false, world.nowMs);
  world.pass(4000);
}

// @rule PART-G8f
test('what waits for a hold of a global whose home is away → UNAVAILABLE, reads too', () => {
  const world = beginTransfer(US_LEADER, 'us/ann', 'eu/bob');
  const local = world.submit(FOLLOWER, withdraw('eu/bob', 1));
  const read = world.submit(FOLLOWER, balance('eu/bob'), STRONG);
  loseLink(world, US_LEADER);
  expect([local.code, read.code]).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
  world.start(US_LEADER);
  world.machines[FOLLOWER]?.setConnected(siteAt(US_LEADER), true, world.nowMs);
  world.pass(500);
  expect(world.read(FOLLOWER, balance('eu/bob'))).toBe(130);
});

// @rule PART-G8f
test('what waits for an own global whose hold is not granted → UNAVAILABLE', () => {
  const world = beginTransfer(US_LEADER, 'eu/bob', 'us/ann');
  const local = world.submit(FOLLOWER, withdraw('eu/bob', 1));
  const later = world.submit(FOLLOWER, withdraw('eu/bob', 2));
  loseLink(world, US_LEADER);
  expect([local.code, later.code]).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
  const other = world.submit(FOLLOWER, withdraw('eu/eve', 0));
  world.pass(100);
  expect(other.value).toBe(true);
});
