/**
 * Idempotency keys whose home was closed: what was done under them is not done again, and new ones
 * are executed.
 */
// @rule CLU-I13
import { describe, expect, test } from 'vitest';
import { formatKeyedOperationId } from '../../../../../../src/server/site/core/operation-id.ts';
import { MemberWorld } from '../../../../../support/member-world.ts';
import { bank, bankService } from '../../services.ts';
import type { Outcome } from '../../sites.ts';

const [H, S, T] = [0, 1, 2] as const;
const deposit = bank.deposit({ account: 'A', amount: 100 });
const balance = bank.balance({ account: 'A' });

const createWorld = (): MemberWorld =>
  new MemberWorld({ service: bankService(), redLeader: 3 as never, keepsReceivedReplies: true });

/** Asks a site for the deposit under a key whose home is the first site. */
function ask(world: MemberWorld, site: number, key = 'k'): Outcome {
  return world.ask(site, deposit, { id: formatKeyedOperationId(key, 1), home: H, hop: 1 });
}

function rebuild(world: MemberWorld): number {
  world.crash(H);
  world.changeMembers(S, 'h', 'new');
  const rebuilt = world.startFrom(S);
  world.pass(200);
  return rebuilt;
}

const describeOutcome = ({ value, code }: Outcome): unknown =>
  code ?? (value === undefined ? 'open' : 'done');

describe.each(['home', 'another site'])(
  'an operation that %s has executed before the home was lost',
  (executor) => {
    test('is answered by all sites, and not executed again', () => {
      const world = createWorld();
      ask(world, executor === 'home' ? H : S);
      world.pass(100);
      const rebuilt = rebuild(world);
      for (const site of [T, S, rebuilt]) {
        const again = ask(world, site);
        world.pass(200);
        expect([site, describeOutcome(again)]).toEqual([site, 'done']);
      }
      expect([S, T, rebuilt].map((site) => world.read(site, balance))).toEqual([100, 100, 100]);
    });
  },
);

test('a new key is executed once, though all sites are asked at once', () => {
  const world = createWorld();
  const rebuilt = rebuild(world);
  for (const key of ['a', 'b', 'c']) {
    const outcomes = [S, T, rebuilt, S].map((site) => ask(world, site, key));
    world.pass(300);
    expect(outcomes.map(describeOutcome)).toEqual(['done', 'done', 'done', 'done']);
  }
  expect([S, T, rebuilt].map((site) => world.read(site, balance))).toEqual([300, 300, 300]);
});

test('a site that has not heard of the change executes it, or follows the site that has claimed it there', () => {
  for (let steps = 0; steps < 12; steps += 1) {
    const world = createWorld();
    // The home claims it for the third site, which gets the answer late.
    ask(world, T);
    world.settle(({ from, to }) => from === H && to === T);
    world.change(S, { name: 'h', directory: 'new' });
    const first = ask(world, S);
    for (let step = 0; step < steps; step += 1) {
      for (const site of world.machines.keys()) world.sync(site);
      world.deliver(({ from, to }) => !(from === H && to === T));
    }
    world.settle();
    world.crash(H);
    const rebuilt = world.startFrom(S);
    world.pass(300);
    const [second, third] = [ask(world, T), ask(world, rebuilt)];
    world.pass(300);
    const all = [S, T, rebuilt].map((site) => world.read(site, balance));
    expect([steps, all]).toEqual([steps, [100, 100, 100]]);
    expect(['done', 'UNKNOWN']).toContain(describeOutcome(first));
    expect([second, third].map(describeOutcome)).toEqual(['done', 'done']);
  }
});
