/** Sites join and are retired: what becomes of a change, and of what is on its way meanwhile. */
// @rule CLU-M3, CLU-M6, CLU-M7, CLU-M9, CLU-M11
import { expect, test } from 'vitest';
import { dequeue, enqueue, get, put } from '../../../../../../src/operations/index.ts';
import { MemberWorld } from '../../../../../support/member-world.ts';

test('a site joins → it reads at once, writes once all know of it, and all have the same', () => {
  const world = new MemberWorld();
  world.submit(0, put('k', 1));
  world.submit(1, enqueue('q', 'a'));
  world.pass(50);
  // The third one does not hear of it yet.
  world.change(1, { name: 'tok', directory: 'd1' });
  for (let round = 0; round < 10; round += 1) {
    world.settle(({ to }) => to === 2);
    world.tick();
  }
  expect(world.statesAt(1)[3]).toMatch(/^tok \d+ joining$/);
  const joined = world.startFrom(1);
  world.settle(({ to }) => to === 2);
  expect(world.read(joined, get('k'))).toBe(1);
  expect(world.submit(joined, put('early', 1)).code).toBe('UNAVAILABLE');
  // What was sent to another site before may have begun there.
  expect(world.ask(joined, put('moved', 1), { id: 'c/1', home: 0, hop: 1 }).code).toBe('UNKNOWN');
  world.pass(200);
  for (const site of [0, 1, 2, joined]) expect(world.statesAt(site)[3]).toMatch(/^tok \d+ open$/);
  const [value, item] = [world.submit(joined, put('k', 2)), world.submit(joined, dequeue('q'))];
  world.pass(100);
  expect([value.code, item.value]).toEqual([undefined, { item: 'a' }]);
  for (const site of [0, 1, 2]) expect(world.stateAt(site)).toEqual(world.stateAt(joined));
  expect(world.events).toEqual([]);
});

test('a site that has joined crashes → it does not say that nothing was done of what it did before', () => {
  const world = new MemberWorld();
  world.crash(2);
  world.changeMembers(1, 'tok', 'd1');
  const joined = world.startFrom(1);
  expect(world.statesAt(joined)[3]).toMatch(/joining$/);
  world.start(2);
  world.pass(200);
  const first = world.ask(joined, dequeue('q'), { id: 'c/1', home: joined });
  world.pass(100);
  world.crash(joined);
  world.start(joined);
  // Nothing of the red log has come yet.
  const again = world.ask(joined, dequeue('q'), { id: 'c/1', home: joined });
  world.pass(100);
  expect(first.code).toBeUndefined();
  expect(again).toEqual(first);
});

test('an idle site is retired, and nothing of the red log reaches it → it gets the notice', () => {
  const world = new MemberWorld();
  world.change(0, { name: 't', directory: null });
  for (let round = 0; round < 10; round += 1) {
    world.drop(({ to, envelope }) => to === 2 && envelope.message.kind !== 'member.closed');
    world.tick();
    world.settle(({ to, envelope }) => to === 2 && envelope.message.kind !== 'member.closed');
  }
  expect(world.statesAt(0)[2]).toBe('t 0 closed 0');
  expect(world.retirementOf(2)?.message).toContain('t was closed');
});

test('an idle site is retired while nothing reaches it → it gets the notice once a connection is there again', () => {
  const world = new MemberWorld();
  world.change(0, { name: 't', directory: null });
  for (let round = 0; round < 10; round += 1) {
    world.drop(({ to }) => to === 2);
    world.tick();
    world.settle(({ to }) => to === 2);
  }
  world.drop(({ to }) => to === 2);
  expect(world.statesAt(0)[2]).toBe('t 0 closed 0');
  expect(world.retirementOf(2)).toBeUndefined();
  world.connect(2, 1);
  world.settle();
  expect(world.retirementOf(2)?.unsent).toEqual([]);
});

test('the same change again → the same origin', () => {
  const world = new MemberWorld();
  const first = world.changeMembers(0, 'tok', 'd1');
  expect(world.changeMembers(1, 'tok', 'd1').origin).toBe(first.origin);
  expect(world.statesAt(2)).toHaveLength(4);
});

test.each([
  ['of no site', 'unknown', null, /no site is called 'unknown'/],
  ['of the leader', 'h', 'd9', /h is the leader of the red log/],
  ['on a directory that was closed', 't', 'd1', /was closed before/],
])('a change %s → void, and its proposer gets the reason', (_, name, directory, problem) => {
  const world = new MemberWorld();
  world.changeMembers(1, 'tok', 'd1');
  world.changeMembers(1, 'tok', null);
  const states = world.statesAt(0);
  expect(world.changeMembers(1, name, directory).problem).toMatch(problem);
  expect(world.statesAt(0)).toEqual(states);
});

test('a second change → void while a site has not confirmed the first; it may close that site', () => {
  const world = new MemberWorld({ siteCount: 4 });
  world.crash(3);
  world.crash(2);
  world.start(2);
  expect(world.changeMembers(1, 'tok', 'd1').problem).toBeUndefined();
  expect(world.changeMembers(1, 'nyc', 'd2').problem).toMatch(/has to be confirmed by u first/);
  expect(world.statesAt(0).at(-1)).toMatch(/^tok \d+ joining$/);
  expect(world.changeMembers(1, 'u', null).problem).toBeUndefined();
  for (const site of [0, 1, 2]) {
    expect(world.statesAt(site).slice(3)).toEqual([
      expect.stringMatching(/^u 0 closing$/),
      expect.stringMatching(/joining$/),
    ]);
  }
  // The one that joins may have had something of the site that is closed.
  const joined = world.startFrom(0);
  world.pass(300);
  for (const site of [0, 1, 2, joined]) {
    expect(world.statesAt(site).slice(3)).toEqual([
      'u 0 closed 0',
      expect.stringMatching(/^tok \d+ open$/),
    ]);
  }
});

test('one of two sites is retired while it is away → the other goes on alone', () => {
  const world = new MemberWorld({ siteCount: 2 });
  world.submit(1, put('k', 1));
  world.pass(50);
  world.crash(1);
  const red = world.submit(0, enqueue('q', 'a'));
  world.pass(50);
  expect(red).toEqual({});
  expect(world.changeMembers(0, 's', null).problem).toBeUndefined();
  expect(world.statesAt(0)).toEqual(['h 0 open', 's 0 closed 1']);
  expect(red.code).toBeUndefined();
  expect(world.submit(0, dequeue('q'))).toEqual({});
  world.pass(50);
  expect(world.read(0, get('k'))).toBe(1);
});

test('a running site is retired → it stops, and reports the operations that no other site has', () => {
  const world = new MemberWorld();
  world.submit(2, put('k', 1));
  world.pass(50);
  world.submit(2, put('alone', 2));
  world.sync(2);
  world.drop(({ from, envelope }) => from === 2 && envelope.message.kind === 'blue.operations');
  world.change(0, { name: 't', directory: null });
  world.settle(({ from, envelope }) => from === 2 && envelope.message.kind.startsWith('blue'));
  expect(world.retirementOf(2)?.unsent.map(({ effects }) => effects[0]?.key)).toEqual(['alone']);
  world.drop();
  world.pass(100);
  expect(world.statesAt(0)).toEqual(['h 0 open', 's 0 open', 't 0 closed 1']);
});

test('the site that is retired alone has what another one had durable → the change waits for a site that remains', () => {
  const world = new MemberWorld();
  const passAllButBlue = (): void => {
    for (let round = 0; round < 20; round += 1) {
      world.drop(({ to, envelope }) => to === 0 && envelope.message.kind === 'blue.operations');
      world.settle(({ to, envelope }) => to === 0 && envelope.message.kind === 'blue.operations');
      world.tick();
    }
  };
  world.submit(1, put('k', 1));
  const red = world.submit(1, enqueue('q', 'a'));
  passAllButBlue();
  // At a second site, and so in the red log.
  expect(world.machine(0).redDelivered).toBeGreaterThan(0);
  world.change(0, { name: 't', directory: null });
  passAllButBlue();
  expect(world.statesAt(0)[2]).toBe('t 0 closing');
  world.pass(100);
  expect(world.statesAt(0)[2]).toBe('t 0 closed 0');
  expect(red.code).toBeUndefined();
  expect(world.read(0, get('k'))).toBe(1);
});

test('a site was away while it was retired → it learns of it and stops', () => {
  const world = new MemberWorld();
  world.submit(2, put('k', 1));
  world.pass(50);
  world.crash(2);
  world.changeMembers(0, 't', null);
  world.start(2);
  world.pass(100);
  expect(world.retirementOf(2)).toEqual(expect.objectContaining({ unsent: [] }));
});

test('red records behind the change that closes their site → void everywhere', () => {
  const world = new MemberWorld();
  // It stands in the leader's log right behind the change.
  world.change(0, { name: 's', directory: null });
  const late = world.submit(1, enqueue('q', 'late'));
  world.pass(200);
  expect(late.value).toBeUndefined();
  const item = world.submit(2, dequeue('q'));
  world.pass(100);
  expect(item.value).toBeNull();
  expect(world.stateAt(0)).toEqual(world.stateAt(2));
});
