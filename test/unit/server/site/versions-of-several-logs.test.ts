/** A version is activated in `main`, and in force once each other red log has a copy of that. */
// @rule PART-G13
import { expect, test } from 'vitest';
import { createPartitions } from '../../../../src/server/service/partitions.ts';
import { createSiteFromShared, getSharedPart } from '../../../../src/server/log/recovered-state.ts';
import { isOfLog } from '../../../support/member-world.ts';
import { siteAt } from '../../../support/origins.ts';
import { running, V2, versionOf, VersionWorld } from '../../../support/version-world.ts';

const [MAIN_LEADER, US_LEADER, FOLLOWER] = [0, 1, 2] as const;
const SITES = [MAIN_LEADER, US_LEADER, FOLLOWER];
const HASH_V2 = versionOf(V2).service.hash;

const quote = { name: 'quote', args: { id: 'us/x' } };

const createWorld = () =>
  new VersionWorld(3, {
    partitions: createPartitions(V2, { us: {} }),
    redLogs: [{ leader: siteAt(US_LEADER) }],
  });

const getInForce = (world: VersionWorld) => SITES.map((site) => world.inForceAt(site) === HASH_V2);
const getChanged = (world: VersionWorld) =>
  world.memberEvents.flatMap(([site, output]) =>
    output.kind === 'changed' ? [[site, output.problem]] : [],
  );

test('an activated version → in force at all sites, and its proposer knows', () => {
  const world = createWorld();
  world.restart(SITES, V2);
  world.activate(FOLLOWER);
  world.pass(50);
  expect(getInForce(world)).toEqual([true, true, true]);
  expect(getChanged(world)).toEqual([[FOLLOWER, undefined]]);
  const quoted = SITES.map((site) => world.submit(site, quote));
  world.pass(50);
  expect(quoted.map(({ value }) => value)).toEqual(['new', 'new', 'new']);
});

test('the log of us has no copy here → not in force here, and the proposer waits', () => {
  const world = createWorld();
  world.restart(SITES, V2);
  const isHeld = isOfLog(1, FOLLOWER);
  world.activate(FOLLOWER);
  world.passWithout(isHeld);
  expect(getInForce(world)).toEqual([true, true, false]);
  expect(getChanged(world)).toEqual([]);
  expect(world.submit(FOLLOWER, quote)).toMatchObject({ code: 'UNAVAILABLE' });
  world.pass(100);
  expect(getInForce(world)).toEqual([true, true, true]);
  expect(getChanged(world)).toEqual([[FOLLOWER, undefined]]);
});

test('a site with the old version, behind in main → stops before it takes a new record of us', () => {
  const world = createWorld();
  world.restart([MAIN_LEADER, US_LEADER], V2);
  const isHeld = isOfLog(0, FOLLOWER);
  world.activate(MAIN_LEADER);
  world.passWithout(isHeld);
  const quoted = world.submit(US_LEADER, quote);
  world.passWithout(isHeld);
  expect(quoted.value).toBe('new');
  expect(world.outdated).toEqual([[FOLLOWER, expect.stringContaining('needs a newer version')]]);
  expect(world.machine(FOLLOWER).red.lanes.at(1).order.deliveredCount).toBe(0);
});

test('the leader of us crashes before its copy is on the disk → appends it at its next start', () => {
  const world = createWorld();
  world.restart(SITES, V2);
  world.activate(MAIN_LEADER);
  const syncMain = (): void => {
    for (const site of world.machines.keys())
      world.sync(site, site === US_LEADER ? ['local', 'red'] : undefined);
  };
  do syncMain();
  while (world.deliver());
  world.crash(US_LEADER);
  world.options = running(V2) as never;
  world.start(US_LEADER);
  world.pass(200);
  expect(getInForce(world)).toEqual([true, true, true]);
});

test('a restart from the logs and from a checkpoint → in force as before, without other sites', () => {
  const world = createWorld();
  world.restart(SITES, V2);
  world.activate(MAIN_LEADER);
  world.pass(50);
  const first = world.ask(FOLLOWER, quote, { id: 'c/1', home: FOLLOWER });
  world.pass(50);
  expect(first.value).toBe('new');
  world.sync(FOLLOWER);
  const saved = createSiteFromShared(getSharedPart(world.saveCheckpoint(FOLLOWER)));
  for (const stored of [undefined, saved]) {
    for (const site of SITES) world.crash(site);
    world.options = running(V2) as never;
    world.start(FOLLOWER, stored);
    world.sync(FOLLOWER);
    expect(world.inForceAt(FOLLOWER)).toBe(HASH_V2);
    expect(world.machine(FOLLOWER).activation.getRejection('tag')).toBeUndefined();
  }
});

test('a checkpoint between the activation and its copy → the version comes into force with the copy', () => {
  const world = createWorld();
  world.restart(SITES, V2);
  world.activate(MAIN_LEADER);
  world.passWithout(isOfLog(1, FOLLOWER));
  const saved = createSiteFromShared(getSharedPart(world.saveCheckpoint(FOLLOWER)));
  world.crash(FOLLOWER);
  world.options = running(V2) as never;
  world.start(FOLLOWER, saved);
  expect(world.inForceAt(FOLLOWER)).not.toBe(HASH_V2);
  world.pass(200);
  expect(world.inForceAt(FOLLOWER)).toBe(HASH_V2);
});
