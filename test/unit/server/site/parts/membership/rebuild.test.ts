/** A site whose directory is lost starts as another origin, with the data of the other sites. */
// @rule CLU-M1, CLU-M2, CLU-M4, CLU-M5, CLU-M8
import { expect, test } from 'vitest';
import type { Envelope } from '../../../../../../src/server/site/wire/envelope.ts';
import { dequeue, enqueue, get, put } from '../../../../../../src/operations/index.ts';
import { bank, bankService } from '../../services.ts';
import { MemberWorld, siteAt } from '../../../../../support/member-world.ts';

/**
 * Three sites, of which the third gives the red order, and the first is lost after some work of
 * all.
 */
function createWorldWithLostSite(): MemberWorld {
  const world = new MemberWorld({ redLeader: 3 as never });
  for (const site of [0, 1, 2]) world.submit(site, put(`k${site}`, site));
  world.submit(0, enqueue('q', 'a'));
  world.pass(100);
  world.crash(0);
  return world;
}

test('a lost site is rebuilt → closed at what others hold, then another origin with all that these have', () => {
  const world = createWorldWithLostSite();
  expect(world.changeMembers(1, 'h', 'new')).toEqual(
    expect.objectContaining({ origin: 4, problem: undefined }),
  );
  const rebuilt = world.startFrom(1);
  world.pass(200);
  for (const site of [1, 2, rebuilt]) {
    expect(world.statesAt(site)).toEqual([
      'h 0 closed 1',
      's 0 open',
      't 0 open',
      expect.stringMatching(/^h \d+ open$/),
    ]);
    expect(world.stateAt(site)).toEqual(world.stateAt(1));
  }
  const [value, item] = [
    world.submit(rebuilt, put('again', 1)),
    world.submit(rebuilt, dequeue('q')),
  ];
  world.submit(1, put('k1', 'later'));
  world.pass(200);
  expect([value.code, item.value]).toEqual([undefined, { item: 'a' }]);
  for (const site of [1, 2, rebuilt]) {
    expect([world.read(site, get('again')), world.read(site, get('k1'))]).toEqual([1, 'later']);
    expect(world.stableAt(site)).toHaveLength(5);
  }
  expect(world.events).toEqual([]);
});

test('a site is rebuilt from the state of another one, which is then lost → all get what only that one had', () => {
  const world = createWorldWithLostSite();
  world.changeMembers(1, 'h', 'new');
  world.submit(1, put('alone', 1));
  world.sync(1);
  world.drop();
  const rebuilt = world.startFrom(1);
  world.crash(1);
  world.pass(200);
  expect(world.read(2, get('alone'))).toBe(1);
  expect(world.stateAt(rebuilt)).toEqual(world.stateAt(2));
});

test('a site is rebuilt from the state of a site with a wild clock → it does not pass on what others refuse', () => {
  const world = createWorldWithLostSite();
  world.changeMembers(1, 'h', 'new');
  world.aheadMs[1] = 60_000;
  world.submit(1, put('alone', 1));
  world.sync(1);
  world.drop();
  const stored = world.saveStored(1);
  world.crash(1);
  // At this start it has not heard yet what the clocks of others show.
  world.start(1, stored);
  world.startFrom(1);
  world.crash(1);
  world.pass(200);
  expect(world.read(2, get('alone'))).toBeUndefined();
  world.aheadMs[1] = 0;
  world.start(1, stored);
  world.pass(200);
  expect(world.read(2, get('alone'))).toBe(1);
});

test('what one site alone has of the lost one → the end, and passed on to all', () => {
  const world = createWorldWithLostSite();
  world.start(0);
  world.settle();
  world.submit(0, put('last', 1));
  world.settle(({ from, to }) => from === 0 && to === 2);
  world.drop();
  world.crash(0);
  expect(world.read(2, get('last'))).toBeUndefined();
  world.changeMembers(2, 'h', null);
  world.pass(200);
  for (const site of [1, 2]) {
    expect(world.statesAt(site)).toEqual(['h 0 closed 2', 's 0 open', 't 0 open']);
    expect(world.read(site, get('last'))).toBe(1);
  }
});

test('what one site alone has of the lost one, and that site is lost too → the others go on without it', () => {
  const world = new MemberWorld({ siteCount: 4, redLeader: siteAt(3) });
  world.submit(0, put('k', 1));
  world.pass(100);
  world.submit(0, put('last', 1));
  world.settle(({ from, to }) => from === 0 && to !== 1);
  world.drop();
  world.crash(0);
  // Site 1 does not pass it on, and its own operation depends on it.
  const passAllButLast = (): void => {
    const isLast = ({ envelope: { message } }: { readonly envelope: Envelope }): boolean =>
      message.kind === 'blue.operations' && message.operations[0]?.site === siteAt(0);
    for (let round = 0; round < 50; round += 1) {
      world.drop(isLast);
      world.settle(isLast);
      world.tick();
    }
    world.drop();
  };
  world.submit(1, put('k1', 'after'));
  world.change(3, { name: 'h', directory: null });
  passAllButLast();
  expect(world.statesAt(2)[0]).toBe('h 0 closing');
  expect(world.machine(3).membership.unconfirmed).toEqual([siteAt(1)]);
  world.crash(1);
  expect(world.changeMembers(3, 's', null).problem).toBeUndefined();
  world.pass(200);
  for (const site of [2, 3]) {
    expect(world.statesAt(site)).toEqual(['h 0 closed 1', 's 0 closed 1', 't 0 open', 'u 0 open']);
    expect([world.read(site, get('last')), world.read(site, get('k1'))]).toEqual([
      undefined,
      'after',
    ]);
  }
});

test('what no site has of the lost one → red operations and sessions that saw it go on', () => {
  const world = createWorldWithLostSite();
  world.start(0);
  world.settle();
  const seen = world.submit(0, put('gone', 1), { sessionVector: world.stableAt(0).map(() => 0) });
  world.sync(0);
  world.drop();
  world.crash(0);
  expect(seen.seen?.[1]).toBeGreaterThan(world.stableAt(1)[1] ?? 0);
  world.changeMembers(1, 'h', null);
  world.pass(100);
  const later = world.submit(1, put('k1', 2), { sessionVector: seen.seen ?? [] });
  world.pass(100);
  expect(later.code).toBeUndefined();
  expect(world.read(2, get('k1'))).toBe(2);
});

test('an operation that the lost site had answered, asked for again → done once: a site that has received it answers', () => {
  const world = new MemberWorld({
    service: bankService(),
    redLeader: 3 as never,
    keepsReceivedReplies: true,
  });
  const deposit = bank.deposit({ account: 'A', amount: 100 });
  world.ask(0, deposit, { id: 'c/1', home: 0 });
  world.pass(50);
  world.crash(0);
  world.changeMembers(1, 'h', 'new');
  const rebuilt = world.startFrom(1);
  world.pass(200);
  const again = [rebuilt, 1].map((site) =>
    world.ask(site, deposit, { id: 'c/1', home: 0, hop: 1 }),
  );
  world.pass(300);
  // The new origin has the state of another site, and not what that has received.
  expect(again.map(({ value, code }) => code ?? value)).toEqual(['UNKNOWN', null]);
  for (const site of [1, 2, rebuilt])
    expect(world.read(site, bank.balance({ account: 'A' }))).toBe(100);
});
