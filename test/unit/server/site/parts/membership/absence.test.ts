/** Sites that are away: what is kept for them, and how they come back once it is not. */
// @rule CLU-G1a, CLU-A1, CLU-A2, CLU-A3, CLU-A4, CLU-A5, CLU-A6, CLU-T1a
import { expect, test } from 'vitest';
import type { LocalEntry } from '../../../../../../src/server/service/records/records.ts';
import {
  mergeSharedIntoSite,
  getSharedPart,
} from '../../../../../../src/server/log/recovered-state.ts';
import { dequeue, enqueue, get, put } from '../../../../../../src/operations/index.ts';
import { MemberWorld, siteAt } from '../../../../../support/member-world.ts';

const LIMITS = { maxBacklogEntries: 20, keepForMs: 1000 };

/**
 * Three sites, the last of which leads the red log. Collects the reasons why a site was left
 * behind.
 */
function createWorld(absence = LIMITS): MemberWorld & { readonly leftBehind: string[] } {
  const leftBehind: string[] = [];
  const observer = { onLeftBehind: (peer: number) => void leftBehind.push(String(peer)) };
  return Object.assign(new MemberWorld({ redLeader: siteAt(2), absence, observer }), {
    leftBehind,
  });
}

/** Both colors, at the sites that are there. */
function work(world: MemberWorld, text: string, sites: readonly number[], count = 5): void {
  for (let n = 0; n < count; n += 1) {
    for (const site of sites) world.submit(site, put(`${text}-${site}-${n}`, n));
    world.submit(sites[0] ?? 0, enqueue('q', `${text}-${n}`));
    world.pass(20);
  }
}

function expectAllEqual(world: MemberWorld, sites: readonly number[]): void {
  for (const site of sites) expect(world.stateAt(site)).toEqual(world.stateAt(sites[0] ?? 0));
}

test('a receiver needs entries that others have removed → it reports this, takes a state, and goes on', () => {
  const world = createWorld();
  work(world, 'first', [0, 1, 2], 1);
  const old = world.copyLogs(1);
  work(world, 'second', [0, 2]);
  world.crash(1);
  world.start(1, old);
  world.pass(300);
  expect(world.isBehind(1)).toBe(true);
  world.merge(1, 0, old);
  work(world, 'third', [0, 1, 2]);
  world.pass(300);
  expect(world.read(1, get('second-0-4'))).toBe(4);
  expectAllEqual(world, [0, 1, 2]);
});

test.each([
  ['lacks too many entries', { maxBacklogEntries: 20, keepForMs: Infinity }, 30],
  ['has been silent for too long', { maxBacklogEntries: Infinity, keepForMs: 200 }, 20],
])(
  'a site that %s → left behind: nothing is kept for it, and no update refused',
  (_, limits, count) => {
    const world = createWorld(limits);
    world.pass(50);
    world.crash(1);
    work(world, 'away', [0, 2], count);
    // By each of the two others.
    expect(world.leftBehind).toEqual(['2', '2']);
    for (const site of [0, 2]) expect(world.machine(site).backlogLength).toBeLessThan(5);
    const [value, item] = [world.submit(0, put('k', 1)), world.submit(0, dequeue('q'))];
    world.pass(100);
    expect([value.code, item.value]).toEqual([undefined, { item: 'away-0' }]);
  },
);

test('a site that was left behind keeps its own tail, its slots and its red log', () => {
  const world = createWorld();
  work(world, 'first', [0, 1, 2], 2);
  const named = { id: 'c/1', home: 1 };
  world.ask(1, put('own', 'tail'), named);
  world.sync(1);
  world.drop();
  world.crash(1);
  work(world, 'away', [0, 2], 30);
  world.start(1);
  world.pass(300);
  expect(world.isBehind(1)).toBe(true);
  expect(world.read(0, get('own'))).toBe('tail');
  world.crash(0);
  world.merge(1, 2);
  const again = world.ask(1, put('own', 'again'), named);
  world.start(0);
  world.pass(500);
  expect(again.code).toBeUndefined();
  for (const site of [0, 1, 2]) expect(world.read(site, get('own'))).toBe('tail');
  work(world, 'later', [0, 1, 2], 2);
  world.pass(300);
  expectAllEqual(world, [0, 1, 2]);
});

test.each([
  ['its logs alone', 2, (world: MemberWorld) => world.copyLogs(1)],
  [
    'a checkpoint, too',
    0,
    (world: MemberWorld) => ({ ...world.copyLogs(1), checkpoint: world.saveCheckpoint(1) }),
  ],
])(
  'entries that only this site has, %s → every other site gets them after the site took a state',
  (_, donor, save) => {
    const world = createWorld();
    work(world, 'first', [0, 1, 2], 2);
    world.submit(1, put('own', 'tail'));
    world.sync(1);
    world.drop();
    const own = save(world);
    world.crash(1);
    work(world, 'away', [0, 2], 30);
    world.merge(1, donor, own);
    world.pass(500);
    for (const site of [0, 1, 2]) expect(world.read(site, get('own'))).toBe('tail');
    expectAllEqual(world, [0, 1, 2]);
  },
);

test('a donor that has less, or knows the site as closed → refused', () => {
  const world = createWorld();
  const early = getSharedPart(world.saveCheckpoint(0));
  work(world, 'first', [0, 1, 2], 2);
  const own = world.saveStored(1);
  const refused = (text: string): unknown =>
    expect.objectContaining({ code: 'UNAVAILABLE', message: expect.stringContaining(text) });
  expect(() => mergeSharedIntoSite(siteAt(1), own, early)).toThrow(
    refused('it has less of the red log'),
  );
  const withRed = { ...own, red: world.copyLogs(1).red };
  expect(() => mergeSharedIntoSite(siteAt(1), withRed, early)).toThrow(
    refused('it lacks operations'),
  );
  // The red log has lost what this site had, so no other site can have as much.
  const kept = [{ length: 0, isLossy: true }];
  expect(() => mergeSharedIntoSite(siteAt(1), own, early, kept)).toThrow(
    refused('it lacks operations'),
  );
  world.changeMembers(0, 's', null);
  const late = getSharedPart(world.saveCheckpoint(0));
  expect(() => mergeSharedIntoSite(siteAt(1), own, late)).toThrow(refused('was closed'));
});

/** Both halves work, blue only, while no message goes from one to the other. */
function workInHalves(world: MemberWorld, isInFirst: (origin: number) => boolean): void {
  for (let n = 0; n < 40; n += 1) {
    for (const site of world.machines.keys()) world.submit(site, put(`cut-${site}-${n}`, n));
    world.tick();
    const isCut = ({ from, to }: Sent): boolean =>
      isInFirst(siteAt(from)) !== isInFirst(siteAt(to));
    for (const site of world.machines.keys()) world.sync(site);
    world.settle(isCut);
    world.drop(isCut);
  }
}

interface Sent {
  readonly from: number;
  readonly to: number;
}

/**
 * A world of so many sites, and what they report: which ones they leave behind, or are cut off
 * from.
 */
function createHalves(
  siteCount: number,
  leader = 1,
  absence = LIMITS,
): MemberWorld & { readonly noticed: string[] } {
  const noticed: string[] = [];
  const observer = {
    onLeftBehind: (peer: number) => void noticed.push(`left ${peer}`),
    onCutOff: (peers: readonly number[], isFull: boolean) =>
      void noticed.push(`cut off from ${peers.join()}${isFull ? ', full' : ''}`),
  };
  const world = new MemberWorld({ siteCount, redLeader: siteAt(leader - 1), absence, observer });
  return Object.assign(world, { noticed });
}

/** Sites that are behind take the state of the first donor that may give it, as a node does. */
function returnAll(world: MemberWorld): void {
  for (let round = 0; round < world.machines.length; round += 1) {
    world.pass(1000);
    for (const site of [...world.machines.keys()].filter((item) => world.isBehind(item))) {
      const donors = [...world.machines.keys()].filter(
        (item) => item !== site && !world.isBehind(item),
      );
      const own = world.saveStored(site);
      donors.some((donor) => world.tryMerge(site, donor, own));
    }
  }
  world.pass(1000);
}

test.each([
  ['two of five', 5, 1, [4, 5]],
  ['the half without the leader', 4, 2, [3, 4]],
  ['the first half, which is without the leader', 4, 3, [1, 2]],
] as const)(
  'two camps for too long, %s in the minority → only that one is left behind, and all of it returns',
  (_, count, leader, minority) => {
    const world = createHalves(count, leader);
    work(world, 'first', [...world.machines.keys()], 2);
    workInHalves(world, (origin) => (minority as readonly number[]).includes(origin));
    const left = new Set(world.noticed.filter((text) => text.startsWith('left')));
    expect([...left].toSorted()).toEqual(minority.map((origin) => `left ${origin}`));
    for (const origin of minority) expect(world.machine(origin - 1).isBacklogFull).toBe(true);
    returnAll(world);
    for (const site of world.machines.keys()) expect(world.read(0, get(`cut-${site}-39`))).toBe(39);
    expectAllEqual(world, [...world.machines.keys()]);
    for (const site of world.machines.keys()) expect(world.machine(site).isBacklogFull).toBe(false);
  },
);

test('a site alone → it leaves no other one behind, keeps all that it has, and reports twice that it is cut off', () => {
  const world = createHalves(3, 1, { ...LIMITS, keepForMs: 100 });
  world.pass(50);
  workInHalves(world, (origin) => origin === 3);
  expect(new Set(world.noticed)).toEqual(
    new Set(['left 3', 'cut off from 1,2', 'cut off from 1,2, full']),
  );
  expect(world.noticed.filter((text) => text.startsWith('cut'))).toHaveLength(2);
  world.pass(1000);
  world.merge(2, 0, world.saveStored(2));
  world.pass(1000);
  expect(world.read(1, get('cut-2-0'))).toBe(0);
  expectAllEqual(world, [0, 1, 2]);
});

/** Lets time pass while messages that are cut go nowhere. */
function passWithout(world: MemberWorld, isCut: (sent: Sent) => boolean): void {
  for (let n = 0; n < 200; n += 1) {
    world.tick();
    world.settle(isCut);
    world.drop(isCut);
  }
}

test.each([
  ['is silent too', ['cut off from 1'], 2],
  ['is idle, but there', ['left 1', 'left 1'], 0],
])('one site lacks something, another one has all and %s → %s', (_, noticed, away) => {
  const world = createHalves(3, 2, { ...LIMITS, keepForMs: 1000 });
  world.pass(50);
  world.submit(2, put('own', 1));
  const isToFirst = ({ to }: Sent): boolean => to === 0;
  world.settle(isToFirst);
  world.drop(isToFirst);
  passWithout(world, ({ from, to }) => from === away || to === away);
  expect(world.noticed).toEqual(noticed);
});

test('one of two sites, though it leads the red log → it leaves the other one not behind', () => {
  const world = createHalves(2);
  world.pass(50);
  world.crash(1);
  work(world, 'alone', [0], 30);
  expect(world.noticed).not.toContain('left 2');
  expect(world.machine(0).isBacklogFull).toBe(true);
  world.start(1);
  world.pass(2000);
  expect(world.machine(0).isBacklogFull).toBe(false);
  expectAllEqual(world, [0, 1]);
});

test('a site takes the state of another one, which is then lost → all get what only that one had', () => {
  const world = createHalves(4);
  work(world, 'first', [0, 1, 2, 3], 1);
  world.submit(2, put('alone', 1));
  world.sync(2);
  world.drop();
  world.crash(0);
  world.crash(3);
  world.merge(1, 2);
  world.crash(1);
  world.crash(2);
  world.start(0);
  world.start(3);
  // These two leave the others behind, so each side lacks what the other one does not keep.
  work(world, 'away', [0, 3], 40);
  world.start(1);
  world.pass(500);
  for (const site of [0, 3]) expect(world.read(site, get('alone'))).toBe(1);
  world.merge(1, 0);
  world.pass(500);
  expectAllEqual(world, [0, 1, 3]);
});

test('a red log has lost what this site had → its own log proves only what is left of that', () => {
  const world = createWorld();
  const early = getSharedPart(world.saveCheckpoint(0));
  const entries: readonly LocalEntry[] = [
    { kind: 'delivered', redDelivered: [3, 9] },
    { kind: 'delivered', redDelivered: 7 },
  ];
  const own = { local: { start: 0, entries }, red: { start: 0, entries: [] } };
  const merge = (isLossy: boolean): readonly LocalEntry[] => {
    const kept = [4, 5].map((length) => ({ length, isLossy }));
    return mergeSharedIntoSite(siteAt(1), own, early, kept).local.entries;
  };
  expect(merge(true)).toEqual([
    { kind: 'delivered', redDelivered: [3, 5] },
    { kind: 'delivered', redDelivered: 4 },
  ]);
  expect(merge(false)).toEqual(entries);
});
