/**
 * A node that goes on from an older or copied directory is noticed by others, and stops before it
 * can do harm.
 */
// @rule CLU-I3, CLU-I4, CLU-I5, CLU-I6, CLU-I7, CLU-I7a, CLU-I8, CLU-I10
import { describe, expect, test } from 'vitest';
import { enqueue, get, put } from '../../../../src/operations/index.ts';
import type { Envelope } from '../../../../src/server/site/wire/envelope.ts';
import { createEpoch } from '../../../../src/server/log/epoch.ts';
import type { RecoveredState } from '../../../../src/server/log/recovered-state.ts';
import { siteAt } from '../../../support/origins.ts';
import { SiteWorld, type WorldNode } from '../../../support/site-world.ts';
import { contract as sale, service as saleService } from './parts/rights/sale.ts';
import type { Outcome } from './sites.ts';

/** Writes a key at a site, everywhere. */
function write(world: SiteWorld, site: number, key: string): Outcome {
  const outcome = world.submit(site, put(key, key));
  world.settle();
  return outcome;
}

const valuesOf = (world: SiteWorld, key: string): unknown[] =>
  [1, 2].map((site) => world.read(site, get(key)));

describe('a node on an older directory', () => {
  /** Site 0 wrote a, b and c, of which its directory has a and b. */
  function startOlder(options: ConstructorParameters<typeof SiteWorld>[0] = {}): SiteWorld {
    const world = new SiteWorld({ redLeader: siteAt(2), ...options });
    for (const key of ['a', 'b']) write(world, 0, key);
    const older = world.copyLogs(0);
    write(world, 0, 'c');
    world.crash(0);
    world.start(0, older);
    return world;
  }

  test('stops at the first word of another site', () => {
    const world = startOlder();
    expect(world.forked).toEqual([[0, 's has 3 operations of this site, and there are 2 here']]);
    expect(write(world, 0, 'd')).toStrictEqual({});
    expect([...valuesOf(world, 'c'), ...valuesOf(world, 'd')]).toEqual([
      'c',
      'c',
      undefined,
      undefined,
    ]);
  });

  test('goes on while no other site is heard, and stops before others take any of its operations', () => {
    const world = new SiteWorld({ redLeader: siteAt(2) });
    for (const key of ['a', 'b']) write(world, 0, key);
    const older = world.copyLogs(0);
    write(world, 0, 'c');
    world.crash(0);
    const others = [world.takeNode(1), world.takeNode(2)] as const;
    world.start(0, older);
    for (const key of ['x', 'y']) world.submit(0, put(key, key));
    world.sync(0);
    world.submit(0, enqueue('q', 'red that has seen x'));
    world.sync(0);
    const held = world.sent;
    world.sent = [];
    for (const [place, node] of others.entries()) world.putNode(place + 1, node);
    // What is held up comes first, the greeting too.
    world.sent = held;
    world.settle();
    world.pass(200);
    expect(world.forked.map(([site]) => site)).toEqual([0]);
    expect([...valuesOf(world, 'c'), ...valuesOf(world, 'x')]).toEqual([
      'c',
      'c',
      undefined,
      undefined,
    ]);
    const red = world.submit(1, enqueue('q', 'of others'));
    world.settle();
    expect(red).toHaveProperty('value');
  });

  test('with needsPeer: takes no update before another site has accepted its start', () => {
    const world = new SiteWorld({ redLeader: siteAt(2), needsPeer: true });
    write(world, 0, 'a');
    const older = world.copyLogs(0);
    write(world, 0, 'b');
    world.crash(0);
    const other = world.takeNode(1);
    world.crash(2);
    world.start(0, older);
    const late = world.submit(0, put('c', 'c'));
    world.settle();
    expect(late).toStrictEqual({});
    expect(world.read(0, get('a'))).toBe('a');
    world.putNode(1, other);
    world.pass(50);
    expect([late, world.forked.length]).toStrictEqual([
      { code: 'UNAVAILABLE', retryable: true },
      1,
    ]);
  });

  test('with needsPeer: gives no rights away before another site has accepted its start', () => {
    const world = new SiteWorld({
      service: saleService,
      redLeader: siteAt(2),
      needsPeer: true,
      maxAttempts: 5,
    });
    world.submit(0, sale.open({ seats: 9 }));
    world.pass(100);
    const older = world.copyLogs(0);
    world.submit(0, sale.sell({ seats: 1 }));
    world.pass(100);
    world.crash(0);
    const others = [1, 2].map((site) => world.takeNode(site));
    world.start(0, older);
    world.drop();
    for (const [place, node] of others.entries()) world.putNode(place + 1, node);
    const countOwn = (): number | undefined => world.machines[0]?.blue.getHeld(siteAt(0)).sequence;
    const before = countOwn();
    world.submit(1, sale.sell({ seats: 4 }));
    const isHello = ({ envelope }: { readonly envelope: Envelope }): boolean =>
      envelope.message.kind === 'node.hello';
    const kinds = world.sent.map(({ to, envelope }) => (to === 0 ? envelope.message.kind : ''));
    expect(kinds).toContain('rights.request');
    world.settle(isHello);
    world.sync(0);
    expect([countOwn(), world.forked]).toEqual([before, []]);
    world.settle();
    expect(world.forked).toHaveLength(1);
  });

  test('with stopsOnUnknownStart: stops where another site knows a later start', () => {
    const world = new SiteWorld({
      redLeader: siteAt(2),
      stopsOnUnknownStart: true,
      createEpoch: (count) => 100 - count,
    });
    world.crash(0);
    world.start(0);
    world.settle();
    expect(world.forked).toEqual([
      [0, 's knows the start 99 of this site, which is later than this one, 96'],
    ]);
  });

  /**
   * Site 0 starts twice on one copy of its directory: both starts have the fourth number, the
   * second one by chance more.
   */
  const numberFour = (count: number): number => createEpoch(Math.min(count, 4), count / 10);

  test('with stopsOnUnknownStart: has all of its stream, and not the last start that others know → stops', () => {
    const world = new SiteWorld({
      redLeader: siteAt(2),
      stopsOnUnknownStart: true,
      createEpoch: numberFour,
    });
    write(world, 0, 'a');
    const older = world.copyLogs(0);
    for (const logs of [world.copyLogs(0), older]) {
      world.crash(0);
      world.start(0, logs);
      world.settle();
    }
    const reason = `its data directory does not know its start ${numberFour(4)}, which was accepted here`;
    expect(world.forked).toEqual([[0, `s reports: ${reason}`]]);
    expect(world.forkedPeers[0]).toEqual([1, 0, reason]);
  });

  test('with stopsOnUnknownStart: starts of which others have not heard are no forks', () => {
    const world = new SiteWorld({
      stopsOnUnknownStart: true,
      createEpoch: (count) => createEpoch(count, (count % 2) / 2),
    });
    write(world, 2, 'a');
    const others = [world.takeNode(0), world.takeNode(1)] as const;
    for (let start = 0; start < 3; start += 1) {
      world.crash(2);
      world.start(2);
      world.drop();
    }
    for (const [site, node] of others.entries()) world.putNode(site, node);
    world.pass(50);
    write(world, 2, 'b');
    expect([world.forked, world.read(0, get('b'))]).toEqual([[], 'b']);
  });
});

test('the red leader on an older directory → stops, and the red log of the others goes on from it nowhere', () => {
  const world = new SiteWorld();
  for (const item of ['x', 'y']) {
    world.submit(1, enqueue('q', item));
    world.settle();
  }
  const older = world.copyLogs(0);
  world.submit(1, enqueue('q', 'z'));
  world.settle();
  world.crash(0);
  world.start(0, older);
  expect(world.forked).toEqual([[0, 's has 3 entries of the red log, and there are 2 here']]);
  const red = [0, 1].map((site) => world.submit(site, enqueue('q', 'w')));
  world.pass(200);
  expect(red).toStrictEqual([{}, {}]);
  expect([1, 2].map((site) => world.copyLogs(site).red.entries.length)).toEqual([3, 3]);
});

describe('two nodes of one site on copies of a directory', () => {
  function runTwins(options: ConstructorParameters<typeof SiteWorld>[0] = {}): SiteWorld {
    const world = new SiteWorld({ redLeader: siteAt(2), ...options });
    write(world, 0, 'a');
    const copy = world.copyLogs(0);
    let away: WorldNode = world.takeNode(0);
    world.start(0, copy);
    for (let round = 0; round < 3; round += 1) {
      for (const twin of ['A', 'B']) {
        away = world.putNode(0, away);
        world.submit(0, put(`${twin}${round}`, 1));
        world.pass(20);
      }
    }
    return world;
  }

  test('one of them stops, and the others have one stream', () => {
    const world = runTwins();
    expect(world.forked.length).toBeGreaterThan(0);
    const keys = ['A0', 'A1', 'A2', 'B0', 'B1', 'B2'];
    const [s, t] = [1, 2].map((site) => keys.map((key) => world.read(site, get(key))));
    expect(s).toEqual(t);
    expect(world.machines[1]?.blue.getEnd(siteAt(0))).toEqual(
      world.machines[2]?.blue.getEnd(siteAt(0)),
    );
  });

  test('with stopsOnUnknownStart: a start with a higher number goes on, the earlier one stops', () => {
    const world = runTwins({
      stopsOnUnknownStart: true,
      createEpoch: (count) => createEpoch(count, 0),
    });
    expect(world.forked).toEqual([[0, expect.stringContaining('later than this one')]]);
    expect(valuesOf(world, 'B2')).toEqual([1, 1]);
    expect(valuesOf(world, 'A0')).toEqual([undefined, undefined]);
  });

  test('with stopsOnUnknownStart: a start with the same number stops, the earlier one goes on', () => {
    const world = runTwins({
      stopsOnUnknownStart: true,
      createEpoch: (count) => createEpoch(1, count / 10),
    });
    expect(world.forked).toEqual([[0, expect.stringContaining('does not know its start')]]);
    expect(valuesOf(world, 'A2')).toEqual([1, 1]);
    expect(valuesOf(world, 'B0')).toEqual([undefined, undefined]);
  });
});

describe('a second node on a copy of a directory, behind another address', () => {
  const options = {
    redLeader: siteAt(2),
    needsPeer: true,
    stopsOnUnknownStart: true,
    createEpoch: (count: number) => createEpoch(count, 0),
  };
  const SENT_BACK = ['node.fork', 'node.known', 'term.superseded'];

  /**
   * A world whose site 0 has a second node: what that one sends arrives, and it gets what is sent
   * back.
   */
  function runCopy(
    world: SiteWorld,
    copy: RecoveredState,
  ): { submit(key: string): Outcome; pass(ms: number): void } {
    let away = world.takeNode(0);
    world.start(0, copy, false);
    const swap = (): void => {
      away = world.putNode(0, away);
    };
    swap();
    return {
      submit: (key) => {
        swap();
        const outcome = world.submit(0, put(key, key));
        swap();
        return outcome;
      },
      pass: (ms) => {
        for (const untilMs = world.nowMs + ms; world.nowMs < untilMs;) {
          world.tick();
          swap();
          world.tick();
          swap();
          while (world.sent.length > 0) {
            const back = world.sent.filter(
              ({ to, message }) => to === 0 && SENT_BACK.includes(message.kind),
            );
            world.deliver();
            for (const site of [0, 1, 2]) world.sync(site);
            const others = world.sent;
            world.sent = back;
            swap();
            world.deliver();
            world.sync(0);
            swap();
            world.sent.push(...others);
          }
        }
      },
    };
  }

  test.each([
    ['older', 2],
    ['of the same length', 0],
  ])(
    '%s → it stops before it answers an update, the first node goes on, and the others report it',
    (_what, more) => {
      const world = new SiteWorld(options);
      write(world, 0, 'a');
      const copy = world.copyLogs(0);
      for (let count = 0; count < more; count += 1) write(world, 0, `b${count}`);
      const twin = runCopy(world, copy);
      const update = twin.submit('of the copy');
      twin.pass(100);
      expect([world.forked.map(([site]) => site), update]).toEqual([
        [0],
        { code: 'UNAVAILABLE', retryable: true },
      ]);
      expect(new Set(world.forkedPeers.map(([site, peer]) => `${site} ${peer}`))).toEqual(
        new Set(['1 0', '2 0']),
      );
      expect(write(world, 0, 'c')).toHaveProperty('value');
      expect([...valuesOf(world, 'c'), ...valuesOf(world, 'of the copy')]).toEqual([
        'c',
        'c',
        undefined,
        undefined,
      ]);
    },
  );

  test('of the same length, and the first node is away → it answers no update, and nothing is taken of it', () => {
    const world = new SiteWorld(options);
    write(world, 0, 'a');
    const copy = world.copyLogs(0);
    world.crash(0);
    const twin = runCopy(world, copy);
    const update = twin.submit('of the copy');
    twin.pass(10_100);
    expect([world.forked, world.alone, update]).toEqual([
      [],
      [0],
      { code: 'UNAVAILABLE', retryable: true },
    ]);
    world.start(0);
    expect(write(world, 0, 'c')).toHaveProperty('value');
    expect(valuesOf(world, 'c')).toEqual(['c', 'c']);
    twin.pass(100);
    expect(world.forked.map(([site]) => site)).toEqual([0]);
  });
});

describe('a start that waits for another site', () => {
  test('is answered once it is accepted, and not before', () => {
    const world = new SiteWorld({ needsPeer: true });
    world.crash(0);
    const others = [world.takeNode(1), world.takeNode(2)] as const;
    world.start(0);
    const early = world.submit(0, put('k', 'v'));
    world.settle();
    expect(early).toStrictEqual({});
    world.putNode(1, others[0]);
    world.pass(50);
    expect([early, world.alone]).toStrictEqual([{ value: undefined, seen: undefined }, []]);
    expect(world.read(1, get('k'))).toBe('v');
  });

  test('hears no other site for 10 s → refuses updates and reports it, until one has confirmed it', () => {
    const world = new SiteWorld({ needsPeer: true });
    world.crash(0);
    const others = [world.takeNode(1), world.takeNode(2)] as const;
    world.start(0);
    const early = world.submit(0, put('k', 'v'));
    expect(world.machines[0]?.wakeAtMs).toBe(world.nowMs + 10_000);
    world.pass(9_980);
    expect([early, world.alone]).toStrictEqual([{}, []]);
    world.pass(50);
    const refused = { code: 'UNAVAILABLE', retryable: true };
    expect([early, world.alone]).toStrictEqual([refused, [0]]);
    const [late, red] = [world.submit(0, put('k', 'v')), world.submit(0, enqueue('q', 'red'))];
    expect([late, red, world.machines[0]?.writeRefusal?.message]).toStrictEqual([
      refused,
      refused,
      expect.stringContaining('confirmed'),
    ]);
    world.putNode(1, others[0]);
    world.pass(50);
    expect(write(world, 0, 'k')).toHaveProperty('value');
    expect([world.read(1, get('k')), world.machines[0]?.writeRefusal?.message]).toEqual([
      'k',
      undefined,
    ]);
  });

  test('a strong read before that says nothing to the red log', () => {
    const world = new SiteWorld({ needsPeer: true, redLeader: siteAt(2) });
    world.crash(0);
    const others = [world.takeNode(1), world.takeNode(2)] as const;
    world.start(0);
    const early = world.submit(0, get('k'), {
      wantedStages: { tentative: false, causal: false, strong: true },
    });
    world.sync(0);
    expect(world.sent.map(({ message }) => message.kind)).not.toContain('log.propose');
    for (const [place, node] of others.entries()) world.putNode(place + 1, node);
    world.pass(100);
    expect(early).toHaveProperty('value');
  });

  test('the only other site is retired → it goes on alone', () => {
    const world = new SiteWorld({ needsPeer: true, siteCount: 2 });
    world.crash(1);
    world.crash(0);
    world.start(0);
    world.pass(10_050);
    expect(write(world, 0, 'k')).toMatchObject({ code: 'UNAVAILABLE' });
    world.change(0, { name: 's', directory: null });
    world.pass(50);
    expect(write(world, 0, 'k')).toHaveProperty('value');
  });

  test('given up while it waits → nothing of it is done', () => {
    const world = new SiteWorld({ needsPeer: true });
    for (const site of [0, 1, 2]) world.crash(site);
    world.start(0);
    const early = world.submit(0, put('k', 'v'));
    world.abandon(0);
    expect(early).toMatchObject({ code: 'ABORTED' });
    world.pass(10_050);
    expect(world.read(0, get('k'))).toBe(undefined);
  });
});

test('another data directory under the name of a site → nothing of it is taken', () => {
  const world = new SiteWorld({ redLeader: siteAt(2), directory: 'one' });
  write(world, 0, 'a');
  world.crash(0);
  world.options = { directory: 'two' };
  world.start(0, world.copyLogs(0));
  world.settle();
  expect(world.forked).toEqual([[0, 's reports: it is known here on another data directory']]);
  expect(world.forkedPeers[0]).toEqual([1, 0, 'it is known here on another data directory']);
});
