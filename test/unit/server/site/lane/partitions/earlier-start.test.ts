/**
 * What a site says of a global that an earlier start of it has begun, and that its holds may still
 * end.
 */
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
} from './partitioned-bank.ts';

const transfer = call('transfer', { from: 'us/ann', to: 'eu/bob', amount: 30 });
const named = { id: 'ann/1', home: FOLLOWER };

const isCommit = ({ envelope: { message } }: { envelope: { message: object } }): boolean =>
  JSON.stringify(message).includes('"proposer"');

/**
 * A site has restarted while the hold of its transfer stands in main. Its record does not leave.
 */
function createHeld(): SiteWorld {
  const world = createWorld();
  world.submit(FOLLOWER, deposit('us/ann', 100));
  world.settle();
  world.ask(FOLLOWER, transfer, named);
  world.settle(isCommit);
  world.drop(isCommit);
  world.crash(FOLLOWER);
  world.start(FOLLOWER);
  // The markers of this start pass.
  world.machines[FOLLOWER]?.setConnected(siteAt(US_LEADER), true, world.nowMs);
  world.sync(FOLLOWER);
  world.settle(isCommit);
  return world;
}

// @rule PART-B5
test('a retry that is given up while the hold of an earlier start stands → UNKNOWN: it may still take effect', () => {
  const world = createHeld();
  const again = world.ask(FOLLOWER, transfer, named);
  world.settle(isCommit);
  world.abandon(FOLLOWER);
  const { code } = again;
  for (let turn = 0; turn < 20; turn += 1) world.pass(50);
  expect([code, world.read(MAIN_LEADER, balance('eu/bob'))]).toEqual(['UNKNOWN', 30]);
});
