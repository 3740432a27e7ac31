/**
 * Removals are forgotten once nothing older can come: sites still agree, whatever is late, lost or
 * started again.
 */
// @rule RB-B5
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { onceEach, sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';
import { countRemovals, service } from '../unit/server/site/lane/order/red-order-cases.ts';
import { Sites } from '../unit/server/site/sites.ts';
import { scaleRuns } from '../support/lane.ts';

const RUNS = Number(process.env['FC_RUNS'] ?? scaleRuns(150));

const site = fc.nat(2);
const change = fc.record({
  site,
  name: fc.constantFrom('open', 'held'),
  kind: fc.constantFrom(
    'duty b on',
    'duty bb on',
    'tag b x',
    'n b',
    'insert b',
    'remove b',
    'remove b',
    'remove bb',
  ),
  isRed: fc.boolean(),
});
const step = fc.oneof(
  { weight: 6, arbitrary: change.map((item) => ({ change: item })) },
  { weight: 3, arbitrary: site.map((item) => ({ sync: item })) },
  { weight: 4, arbitrary: site.map((item) => ({ tell: item })) },
  { weight: 4, arbitrary: fc.record({ from: site, to: site }).map((item) => ({ deliver: item })) },
  { weight: 1, arbitrary: fc.record({ skew: site, aheadMs: fc.nat(60) }) },
  { weight: 1, arbitrary: site.map((item) => ({ restart: item })) },
  { weight: 1, arbitrary: fc.constant({ pass: true as const }) },
);

function submit(
  sites: Sites,
  { site: at, name, kind, isRed }: { site: number; name: string; kind: string; isRed: boolean },
): void {
  // Blue operations remove no rows that have red-only fields.
  const mustBeRed = name === 'held' && kind.startsWith('remove');
  sites.submit(at, { name: isRed || mustBeRed ? 'change' : 'changeBlue', args: { name, kind } });
}

const stores = (sites: Sites): string[] =>
  sites.machines.map((machine) => JSON.stringify(machine?.state.store.snapshot()));
const retained = (sites: Sites): number[] =>
  sites.machines.map((machine) =>
    machine === undefined ? -1 : countRemovals(machine.state.store),
  );

const isThere = (sites: Sites): unknown[] =>
  [0, 1, 2].map((at) => sites.read(at, { name: 'look', args: { name: 'open', kind: 'has b' } }));

const disturbed = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), (steps) => {
    const once = onceEach(note);
    const sites = new Sites(service, 3, { removalsPerWatermark: 1, maxAttempts: 3 });
    let before = retained(sites);
    for (const item of steps) {
      if ('change' in item) submit(sites, item.change);
      else if ('sync' in item) sites.sync(item.sync);
      else if ('tell' in item) {
        sites.sync(item.tell);
        sites.deliver(({ from }) => from === item.tell);
      } else if ('deliver' in item) {
        sites.deliver(({ from, to }) => from === item.deliver.from && to === item.deliver.to);
      } else if ('skew' in item) sites.aheadMs[item.skew] = item.aheadMs;
      else if ('restart' in item) {
        if (sites.sent.some(({ to, from }) => to === item.restart || from === item.restart))
          once('a site starts again with messages on their way');
        sites.crash(item.restart);
        sites.start(item.restart);
      } else sites.pass(20);
      const after = retained(sites);
      if (after.some((count) => count > 0)) once('a removal is kept');
      if (!('restart' in item) && after.some((count, at) => count < (before[at] as number)))
        once('a removal is forgotten on the way');
      before = after;
    }
    if (sites.aheadMs.some((ahead) => ahead > 0)) once('a clock is ahead');
    if (new Set(stores(sites)).size > 1) once('sites differ at the end of the disturbances');
    sites.pass(200);
    expect(new Set(stores(sites)).size).toBe(1);
    if (isThere(sites)[0] === true) once('a row is there in the end');
    // One more removal each, and all that came before is forgotten.
    for (const at of [0, 1, 2])
      submit(sites, { site: at, name: 'open', kind: 'remove b', isRed: false });
    sites.pass(100);
    for (const at of [0, 1, 2])
      submit(sites, { site: at, name: 'open', kind: 'remove b', isRed: false });
    sites.pass(100);
    expect(new Set(stores(sites)).size).toBe(1);
    expect(Math.max(...retained(sites))).toBeLessThanOrEqual(1);
  });

describe('removals', () => {
  test('any changes, delays, clocks and restarts → sites agree, and at rest what all have seen is forgotten', async () => {
    await fc.assert(disturbed(unnoted), { numRuns: RUNS });
  });

  testShares(
    'the changes → most runs remove rows while sites differ, and start sites that have work in flight',
    async () => {
      const shares = await sharesOf(disturbed, 100);
      expect(shares['a clock is ahead']).toBeGreaterThan(0.6);
      for (const description of [
        'a removal is kept',
        'a row is there in the end',
        'a site starts again with messages on their way',
      ]) {
        expect(shares[description], description).toBeGreaterThan(0.4);
      }
      expect(shares['sites differ at the end of the disturbances']).toBeGreaterThan(0.35);
      expect(shares['a removal is forgotten on the way']).toBeGreaterThan(0.2);
    },
  );

  test('many rows made and removed → as many removals are kept as come between floors, at every site', () => {
    const sites = new Sites(service, 3, { removalsPerWatermark: 8 });
    const most = [0, 0, 0];
    for (let round = 0; round < 200; round += 1) {
      const key = round % 2 === 0 ? 'b' : 'bb';
      submit(sites, { site: round % 3, name: 'open', kind: `duty ${key} on`, isRed: false });
      submit(sites, { site: round % 3, name: 'open', kind: `remove ${key}`, isRed: false });
      sites.settle();
      for (const [at, count] of retained(sites).entries())
        most[at] = Math.max(most[at] ?? 0, count);
    }
    expect(Math.max(...most)).toBeLessThanOrEqual(2);
  });

  /**
   * Removals at both other sites, which see each other and all that they write; the one at site 0
   * is far ahead in time.
   */
  const removeAhead = (
    sites: Sites,
    isMeant: (message: { kind: string }, from: number) => boolean,
  ): void => {
    sites.aheadMs[0] = 50;
    for (let round = 0; round < 3; round += 1) {
      for (const at of [0, 1, 2])
        submit(sites, { site: at, name: 'open', kind: 'remove b', isRed: false });
      do for (const at of [0, 1, 2]) sites.sync(at);
      while (sites.deliver(({ message, from }) => isMeant(message as { kind: string }, from)));
    }
  };

  test('an earlier write of a site whose stream is late → taken by the removal at every site', () => {
    const sites = new Sites(service, 3, { removalsPerWatermark: 1 });
    removeAhead(sites, () => true);
    submit(sites, { site: 1, name: 'open', kind: 'duty b on', isRed: false });
    sites.sync(1);
    sites.aheadMs[0] = 500;
    submit(sites, { site: 0, name: 'open', kind: 'remove b', isRed: false });
    // The other two hear of each other alone, for as long as they like.
    do for (const at of [0, 2]) sites.sync(at);
    while (sites.deliver(({ from, to }) => from !== 1 && to !== 1));
    expect(retained(sites)[0]).toBe(1);
    sites.settle();
    expect(isThere(sites)).toEqual([false, false, false]);
  });

  test('an earlier red write that is in flight → its site writes no floor above it, the removal takes it', () => {
    const sites = new Sites(service, 3, { removalsPerWatermark: 1 });
    removeAhead(sites, () => true);
    submit(sites, { site: 1, name: 'open', kind: 'duty b on', isRed: true });
    removeAhead(sites, ({ kind }, from) => !(from === 1 && kind === 'log.propose'));
    sites.settle();
    expect(isThere(sites)).toEqual([false, false, false]);
    sites.pass(50);
    expect(new Set(stores(sites)).size).toBe(1);
  });

  test('a site that is away → what it has not seen is kept, until it is back', () => {
    const sites = new Sites(service, 3, { removalsPerWatermark: 1 });
    const remove = (at: number): void =>
      submit(sites, { site: at, name: 'open', kind: 'remove b', isRed: false });
    sites.crash(2);
    for (const at of [0, 1, 0]) {
      remove(at);
      sites.pass(30);
    }
    expect(retained(sites)).toEqual([1, 1, -1]);
    sites.start(2);
    sites.pass(200);
    for (const at of [0, 1, 2]) {
      remove(at);
      sites.pass(100);
    }
    submit(sites, { site: 0, name: 'open', kind: 'duty b on', isRed: false });
    sites.pass(100);
    expect(new Set(stores(sites)).size).toBe(1);
    expect(Math.max(...retained(sites))).toBeLessThanOrEqual(1);
  });
});
