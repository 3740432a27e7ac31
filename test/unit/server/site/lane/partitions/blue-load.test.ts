/** Globals of a site that makes blue operations all the time. */
import { expect, test } from 'vitest';
import { call, createWorld, deposit, FOLLOWER } from './partitioned-bank.ts';

/**
 * Returns after how many trips a transfer of the follower has ended, with a blue operation of it in
 * each or none.
 */
function countTrips(isLoaded: boolean): number {
  // No other site helps meanwhile.
  const world = createWorld({ resendAfterMs: 100_000 });
  world.submit(FOLLOWER, deposit('us/ann', 100));
  world.settle();
  const moved = world.submit(
    FOLLOWER,
    call('transfer', { from: 'us/ann', to: 'eu/bob', amount: 30 }),
  );
  let trips = 0;
  for (; moved.value === undefined && trips < 100; trips += 1) {
    const sent = new Set(world.sent);
    if (isLoaded) world.submit(FOLLOWER, deposit('eu/dan', 1));
    for (const site of world.machines.keys()) world.sync(site);
    world.deliver((item) => sent.has(item));
    world.nowMs += 10;
  }
  return trips;
}

// @rule PART-G8
test('a global waits for the blue operations of its snapshot, and for no later ones', () => {
  expect(countTrips(true)).toBe(countTrips(false));
});
