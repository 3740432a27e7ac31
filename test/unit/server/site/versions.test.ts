/**
 * Some sites run a newer version: what they do before it is in force, and which sites must stop
 * after that.
 */
// @rule CLU-U2, CLU-U4, CLU-U6
import { expect, test } from 'vitest';
import {
  RULES_VERSION,
  type DeploymentVersion,
} from '../../../../src/server/service/records/deployment-version.ts';
import { findStoredProblem } from '../../../../src/server/site/parts/activation.ts';
import { createSiteFromShared, getSharedPart } from '../../../../src/server/log/recovered-state.ts';
import { running, V1, V2, versionOf, VersionWorld } from '../../../support/version-world.ts';

const SITES = [0, 1, 2] as const;

const buy = (id: string) => ({ name: 'buy', args: { id } });
const tag = (id: string) => ({ name: 'tag', args: { id, text: 'new' } });
const count = { name: 'count', args: {} };
const tags = { name: 'tags', args: {} };

test('a new operation → UNAVAILABLE until its version is in force, then it works at all sites', () => {
  const world = new VersionWorld();
  world.restart([0, 1], V2);
  for (const site of [0, 1]) {
    expect(world.submit(site, tag('a'))).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    expect(world.submit(site, tags)).toMatchObject({ code: 'UNAVAILABLE' });
    // One that was sent to another site before may have begun there.
    expect(world.ask(site, tag('a'), { id: 'c/1', home: 2, hop: 1 }).code).toBe('UNKNOWN');
  }
  const sold = SITES.map((site) => world.submit(site, buy(`sold at ${site}`)));
  world.pass(50);
  expect(sold.map(({ code }) => code)).toEqual([undefined, undefined, undefined]);
  world.restart([2], V2);
  world.activate(1);
  world.pass(50);
  const tagged = SITES.map((site) => world.submit(site, tag(`tag of ${site}`)));
  world.pass(50);
  expect(tagged.map(({ code }) => code)).toEqual([undefined, undefined, undefined]);
  for (const site of SITES) {
    expect(world.inForceAt(site)).toBe(versionOf(V2).service.hash);
    expect([world.read(site, count), world.read(site, tags)]).toEqual([3, 3]);
    expect(world.stateAt(site)).toEqual(world.stateAt(0));
  }
  expect([world.outdated, world.events]).toEqual([[], []]);
});

test('an old operation that chooses what is new → UNAVAILABLE, and nothing of it is sent before', () => {
  const world = new VersionWorld();
  world.restart([0], V2);
  const early = ['note', 'mark', 'quote'].map((name) =>
    world.submit(0, { name, args: { id: 'x' } }),
  );
  world.pass(50);
  expect(early.map(({ code }) => code)).toEqual(['UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE']);
  expect(world.events).toEqual([]);
  world.restart([1, 2], V2);
  world.activate(0);
  world.pass(50);
  const late = ['note', 'mark', 'quote'].map((name) =>
    world.submit(0, { name, args: { id: 'x' } }),
  );
  world.pass(50);
  expect(late.map(({ code }) => code)).toEqual([undefined, undefined, undefined]);
});

test('back to the old version before it is in force → goes on; afterwards the site does not start', () => {
  const world = new VersionWorld();
  world.submit(0, buy('a'));
  world.restart(SITES, V2);
  world.restart([1], V1);
  expect(world.read(1, count)).toBe(1);
  world.restart([1], V2);
  world.activate(1);
  world.pass(50);
  const { own } = running(V1).version as { own: DeploymentVersion };
  expect(findStoredProblem(world.copyStored(1), V1.tables, own)).toContain(
    "the version in force needs the field 'sales.stars'",
  );
  // The same where the record is in a checkpoint.
  const saved = createSiteFromShared(getSharedPart(world.saveCheckpoint(1)));
  world.crash(1);
  world.options = running(V1) as never;
  expect(() => world.start(1, saved)).toThrow(
    /needs a newer version: .* needs the field 'sales.stars'/,
  );
  expect(() => world.restart([1], V2)).not.toThrow();
  expect(world.read(1, tags)).toBe(0);
});

test('a site that runs the old version when the new one comes into force → stops, and loses nothing', () => {
  const world = new VersionWorld();
  world.restart([0, 1], V2);
  world.submit(2, buy('before'));
  world.activate(0);
  world.pass(50);
  expect(world.outdated).toEqual([[2, expect.stringContaining('needs a newer version')]]);
  expect(world.machine(2).cutProblem).toBeDefined();
  const [unheard, tagged] = [world.submit(2, buy('unheard')), world.submit(1, tag('t'))];
  world.pass(50);
  expect([unheard, tagged.code]).toEqual([{}, undefined]);
  world.restart([2], V2);
  world.pass(50);
  for (const site of SITES)
    expect([world.read(site, count), world.read(site, tags)]).toEqual([1, 1]);
});

test('after a restart what is in force is as before, by the logs and by a checkpoint', () => {
  const world = new VersionWorld();
  world.restart(SITES, V2);
  world.activate(0);
  world.pass(50);
  const early = world.ask(1, tag('once'), { id: 'c/1', home: 1 });
  world.pass(50);
  expect(early.code).toBeUndefined();
  // Without the other sites: only its own log proves that the record counts.
  world.sync(1);
  for (const site of SITES) world.crash(site);
  world.options = running(V2) as never;
  world.start(1);
  for (let round = 0; round < 3; round += 1) world.sync(1);
  const again = world.ask(1, tag('once'), { id: 'c/1', home: 1 });
  world.sync(1);
  expect(again.code).toBeUndefined();
  expect(world.read(1, tags)).toBe(1);
});

test('an older version is activated after a newer one → void, and its proposer gets the reason', () => {
  const world = new VersionWorld();
  world.restart(SITES, V2);
  world.activate(0);
  world.pass(50);
  const first = world.machine(1);
  world.restart([1], V2);
  // As from a node that had asked the others before.
  Object.defineProperty(world.machine(1).options.version, 'own', { value: versionOf(V1) });
  world.activate(1);
  world.pass(50);
  expect(world.problems()).toEqual([expect.stringContaining("needs the field 'sales.stars'")]);
  expect(first).not.toBe(world.machine(1));
  for (const site of [0, 2]) expect(world.inForceAt(site)).toBe(versionOf(V2).service.hash);
});

test('rules that are not known here are in force → the site stops when it hears of them', () => {
  const world = new VersionWorld();
  world.restart([0, 1], V1, RULES_VERSION + 1);
  expect(world.outdated).toEqual([]);
  world.activate(0);
  world.pass(50);
  expect(world.outdated).toEqual([[2, expect.stringMatching(/needs a newer version: .*rules/)]]);
  world.restart([2], V1, RULES_VERSION + 1);
  const sold = world.submit(2, buy('a'));
  world.pass(50);
  expect(sold.code).toBeUndefined();
});

test('a record or an entry of a kind that is not known → named, not dropped', () => {
  const own = versionOf(V1);
  const stored = (entry: object, record?: object) => ({
    local: { start: 0, entries: [entry] as never },
    red: { start: 0, entries: (record === undefined ? [] : [{ record }]) as never },
  });
  const none = { kind: 'delivered', redDelivered: 0 };
  const effects = [{ table: 'sales', key: 'a', field: 'sold', action: 'multiply' }];
  expect(findStoredProblem(stored(none), V1.tables, own)).toBeUndefined();
  expect(findStoredProblem(stored({ kind: 'later' }), V1.tables, own)).toContain("'later'");
  expect(findStoredProblem(stored(none, { kind: 'later' }), V1.tables, own)).toContain("'later'");
  expect(
    findStoredProblem(stored(none, { kind: 'member', action: 'x' }), V1.tables, own),
  ).toContain("'member x'");
  expect(findStoredProblem(stored(none, { kind: 'operation', effects }), V1.tables, own)).toContain(
    "no 'multiply'",
  );
  expect(
    findStoredProblem(stored({ kind: 'blue', operation: { effects } }), V1.tables, own),
  ).toContain("'multiply'");
});

test('a record of the red log of a kind that is not known is delivered → the site stops', () => {
  const world = new VersionWorld(1);
  world.machine(0).log.propose({ kind: 'later', id: 'x/1', site: 1 } as never, world.nowMs);
  world.pass(50);
  expect(world.outdated).toEqual([[0, expect.stringContaining("'later'")]]);
});
