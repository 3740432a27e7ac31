/** Rights that come together for one who takes much, and what is left of them afterwards. */
// @rule RIGHTS-10, RIGHTS-14
import { describe, expect, test, vi } from 'vitest';
import { DEFAULT_SEND_WINDOWS } from '../../../../../../src/server/log/send-windows.ts';
import {
  splitByAll,
  splitByRichest,
} from '../../../../../../src/server/site/parts/rights/split-amount.ts';
import { siteAt } from '../../../../../support/origins.ts';
import type { Outcome, SentMessage, Sites } from '../../sites.ts';
import { contract, held, ledgerAt, item, opened, pooled } from './sale.ts';

const { count, sell, sellCounted, sellInOrder } = contract;
const SOLD = { sold: true };

/** What a take comes to without a word of another site. */
function soldAlone(sites: Sites, site: number): Outcome {
  const taken = sites.submit(site, item);
  sites.sync(site);
  return taken;
}

/** A sale of so many seats, all of which are in the pool. */
function getPool(count: number): Sites {
  const sites = pooled(count, count);
  expect(held(sites)).toEqual([0, 0, 0, count]);
  return sites;
}

/** Whether a site proposes to share out what is left in a pool. */
function isGivingBack(message: SentMessage): boolean {
  const record = message.kind === 'log.propose' ? message.record : undefined;
  return record?.kind === 'operation' && record.effects.some(({ action }) => action === 'transfer');
}

describe('the sites that are asked', () => {
  const holds = (holder: string): number =>
    ({ ireland: 3, frankfurt: 0, virginia: 8, tko: 3 })[holder] ?? 0;
  const holders = ['ireland', 'frankfurt', 'virginia', 'tko'];

  test.each([
    [5, [['virginia', 5]]],
    [
      9,
      [
        ['virginia', 8],
        ['ireland', 1],
      ],
    ],
    [
      90,
      [
        ['virginia', 8],
        ['ireland', 3],
        ['tko', 3],
      ],
    ],
    [0, []],
  ])('%i, of the richest → no more sites than have it', (amount, expected) => {
    expect(
      splitByRichest(amount, holders, holds).map(({ from, amount }) => [from, amount]),
    ).toEqual(expected);
  });

  test('of all → of each as much as it has of it', () => {
    const requested = splitByAll(5, holders, holds).map(({ from, amount }) => [from, amount]);
    expect(requested).toEqual([
      ['ireland', 3],
      ['virginia', 5],
      ['tko', 3],
    ]);
  });
});

describe('a take of more than its site holds', () => {
  test('others can spare what is lacking → it comes here, and the take needs no red order', () => {
    const sites = opened(60);
    const taken = sites.submit(1, sell({ seats: 25 }));
    let proposed = 0;
    do {
      for (const site of [0, 1, 2]) sites.sync(site);
      proposed += sites.sent.filter(({ message }) => message.kind === 'log.propose').length;
    } while (sites.deliver());
    expect([taken.value, held(sites), proposed]).toEqual([SOLD, [10, 15, 10, 0], 0]);
  });

  test('they cannot → no more than it lacks is handed in, and takes elsewhere stay local', () => {
    const sites = opened(60);
    const taken = sites.submit(1, sell({ seats: 50 }));
    sites.settle();
    expect([taken.value, held(sites)]).toEqual([SOLD, [0, 0, 10, 0]]);
    expect(soldAlone(sites, 2).value).toEqual(SOLD);
  });

  test('some is in the pool → the rest comes there too, and no more', () => {
    const sites = pooled(12, 10);
    expect(held(sites)).toEqual([0, 0, 2, 10]);
    const taken = sites.submit(1, sell({ seats: 11 }));
    sites.settle();
    expect([taken.value, held(sites)]).toEqual([SOLD, [0, 0, 1, 0]]);
  });

  test.each([
    ['take', sellInOrder],
    ['read a counter that each of them changes, and take', sellCounted],
  ])(
    'crowds in the red order %s at all sites → each has what it wants, however often others were faster',
    (_do, take) => {
      const sites = opened(90, { maxAttempts: 2 });
      const takes = Array.from({ length: 60 }, (_, n) => sites.submit(n % 3, take({ seats: 1 })));
      sites.settle();
      sites.pass(60);
      expect(takes.map(({ value, code }) => code ?? value)).toEqual(takes.map(() => SOLD));
      expect(ledgerAt(sites, 0).left).toBe(30);
    },
  );

  test.each([900, 150])(
    'a crowd of 300 at one site, of %i → each is executed a few times, not whenever one commits',
    (count) => {
      const sites = opened(count);
      const state = sites.machines[1]?.state;
      if (state === undefined) throw new Error('it is down');
      const runs = [vi.spyOn(state, 'run'), vi.spyOn(state, 'runPipelined')];
      const takes = Array.from({ length: 300 }, () => sites.submit(1, sellInOrder({ seats: 1 })));
      sites.settle();
      sites.pass(60);
      expect(
        takes.filter(({ value }) => (value as { sold: boolean } | undefined)?.sold),
      ).toHaveLength(Math.min(count, 300));
      expect(Math.max(...runs.map(({ mock }) => mock.calls.length))).toBeLessThan(8 * takes.length);
    },
  );

  test('a crowd, and a pool that is enough for some → the others take what comes here, and wait for no red order', () => {
    const sites = getPool(6);
    sites.submit(0, contract.open({ seats: 30 }));
    sites.settle();
    const takes = Array.from({ length: 24 }, () => sites.submit(1, item));
    let proposed = 0;
    do {
      for (const site of [0, 1, 2]) sites.sync(site);
      proposed += sites.sent.filter(({ message }) => message.kind === 'log.propose').length;
    } while (sites.deliver());
    expect(takes.map(({ value }) => value)).toEqual(takes.map(() => SOLD));
    expect(proposed).toBeLessThan(9);
  });

  test('an operation that was to draw on the pool is abandoned → the one that waited for it draws', () => {
    const sites = getPool(12);
    sites.ask(1, sell({ seats: 12 }), { id: 'c/1', home: 1 });
    const first = sites.lastSerial;
    const second = sites.submit(1, item);
    sites.abandon(1, first);
    sites.pass(10);
    expect(second.value).toEqual(SOLD);
  });

  test('one whose preview took nothing takes all, and is abandoned → the one behind it is tried again', () => {
    const sites = pooled(12, 10, { windows: { ...DEFAULT_SEND_WINDOWS, maxProposed: 1 } });
    sites.crash(2);
    // With this on its way no other proposal leaves the site.
    sites.submit(1, count({}));
    sites.ask(1, sellInOrder({ seats: 3 }), { id: 'c/1', home: 1 });
    const before = sites.lastSerial;
    const all = sites.submit(1, sellInOrder({ seats: 10 }));
    const serial = sites.lastSerial;
    const next = sites.submit(1, sellInOrder({ seats: 1 }));
    sites.abandon(1, before);
    sites.abandon(1, serial);
    sites.settle();
    expect([all.code, next.value]).toEqual(['ABORTED', SOLD]);
  });

  test('abandoned while rights come together → the next draw on the pool gives the rest back to all', () => {
    const sites = opened(12);
    const taken = sites.submit(1, sell({ seats: 10 }));
    sites.abandon(1);
    sites.settle();
    expect([taken.code, held(sites)]).toEqual(['ABORTED', [0, 0, 2, 10]]);
    const first = sites.submit(1, item);
    sites.settle();
    expect([first.value, held(sites)]).toEqual([SOLD, [3, 3, 5, 0]]);
    expect([0, 1, 2].map((site) => soldAlone(sites, site).value)).toEqual([SOLD, SOLD, SOLD]);
  });

  test('another site draws on the pool before what is left is given back → the pool has what is left, and no less', () => {
    const sites = pooled(12, 10);
    sites.submit(1, item);
    do for (const site of [0, 1, 2]) sites.sync(site);
    while (ledgerAt(sites, 1).takes === 0 && sites.deliver());
    // What site 1 proposes now is on its way for a while.
    sites.settle(({ message }) => message.kind === 'log.propose');
    expect([ledgerAt(sites, 1).pool, ledgerAt(sites, 0).pool]).toEqual([9, 9]);
    const taken = sites.submit(0, sell({ seats: 8 }));
    sites.settle();
    expect([taken.value, held(sites)]).toEqual([SOLD, [0, 0, 2, 1]]);
  });

  test.each(['at once', 'one after the other'])(
    'two takes draw on the pool %s → the rest is given back once',
    (how) => {
      const sites = getPool(12);
      const takes = [sites.submit(1, sellInOrder({ seats: 1 }))];
      if (how !== 'at once') {
        // The leader has given the first one its place by then, and site 1 has not heard of that.
        sites.sync(1);
        sites.deliver();
        sites.sync(0);
      }
      takes.push(sites.submit(1, sellInOrder({ seats: 1 })));
      let givenBack = 0;
      do {
        for (const site of [0, 1, 2]) sites.sync(site);
        givenBack += sites.sent.filter(({ message }) => isGivingBack(message)).length;
      } while (sites.deliver());
      expect(takes.map(({ value }) => value)).toEqual([SOLD, SOLD]);
      expect([givenBack, held(sites)]).toEqual([1, [3, 3, 3, 1]]);
    },
  );

  test('one take draws on the pools of two fields → what is left of both is given back', () => {
    const sites = opened(12);
    sites.submit(1, contract.sellBoth({ seats: 12 }));
    sites.abandon(1);
    sites.settle();
    sites.submit(1, contract.sellBoth({ seats: 1 }));
    sites.settle();
    expect(['seats', 'coats'].map((field) => ledgerAt(sites, 0, field).pool)).toEqual([2, 2]);
  });

  test('another site gathers rights → the rights in the pool stay there for it', () => {
    const sites = opened(12);
    sites.submit(1, sell({ seats: 4 + 4 + 4 }));
    sites.abandon(1);
    const waits = (): boolean =>
      sites.sent.some(({ message }) => message.kind === 'rights.request');
    expect(waits()).toBe(true);
    sites.settle();
    const first = sites.submit(0, item);
    sites.settle();
    expect([first.value, held(sites)]).toEqual([SOLD, [0, 0, 0, 11]]);
    sites.nowMs += 200;
    const later = sites.submit(0, item);
    sites.settle();
    expect([later.value, held(sites)]).toEqual([SOLD, [3, 3, 3, 1]]);
  });
});

describe('a site with little left', () => {
  test('the richest is away → all are asked once its answer is overdue', () => {
    const sites = opened(30);
    const rightsHere = (): number => ledgerAt(sites, 1).getHolding(siteAt(1));
    const take = (count: number): void => {
      for (let n = 0; n < count; n += 1) sites.submit(1, item);
      sites.settle();
    };
    sites.crash(0);
    take(6);
    // One came of the other one, which was asked for the rest.
    expect(rightsHere()).toBe(5);
    take(2);
    expect(rightsHere()).toBe(3);
    sites.nowMs += 20;
    take(1);
    expect(rightsHere()).toBe(6);
  });

  test('the richest cannot spare enough → the next one is asked for the rest', () => {
    const sites = opened(30);
    for (let n = 0; n < 9; n += 1) sites.submit(1, item);
    for (let n = 0; n < 4; n += 1) sites.submit(0, item);
    sites.sync(1);
    const requested = sites.sent.filter(({ message }) => message.kind === 'rights.request');
    expect(new Set(requested.map(({ to }) => to))).toEqual(new Set([0, 2]));
  });
});
