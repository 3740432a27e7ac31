/** What waits for the end of a hold and is given up, while the home of the global is away. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { collectGarbage } from '../../../../../support/garbage.ts';
import {
  balance,
  call,
  createWorld,
  deposit,
  FOLLOWER,
  US_LEADER,
  withdraw,
} from './partitioned-bank.ts';

const STRONG = { wantedStages: { tentative: false, causal: false, strong: true } };

test.each(['strong reads', 'red writes'])(
  '%s that are given up are not retained until the hold ends',
  async (kind) => {
    const world = createWorld();
    world.submit(FOLLOWER, deposit('us/ann', 100));
    world.submit(FOLLOWER, deposit('eu/bob', 100));
    world.settle();
    world.crash(US_LEADER);
    world.submit(FOLLOWER, call('transfer', { from: 'us/ann', to: 'eu/bob', amount: 30 }));
    world.settle();
    const args: WeakRef<object>[] = [];
    for (let n = 0; n < 300; n += 1) {
      const operation = kind === 'strong reads' ? balance('eu/bob') : withdraw('eu/bob', 1);
      args.push(new WeakRef(operation.args));
      world.submit(FOLLOWER, operation, kind === 'strong reads' ? STRONG : {});
      world.settle();
      world.abandon(FOLLOWER);
    }
    // What a WeakRef was made of lives until the turn is over.
    await setImmediate();
    collectGarbage();
    expect(args.filter((item) => item.deref() !== undefined).length).toBeLessThan(150);
  },
);
