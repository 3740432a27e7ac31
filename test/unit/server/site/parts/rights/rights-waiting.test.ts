/** Operations that wait for rights: how many may, and the errors of those that stop waiting. */
import { describe, expect, test, vi } from 'vitest';
import { contract, held, ledgerAt, item, opened } from './sale.ts';
import type { Sites } from '../../sites.ts';

const { left, sell, sellInOrder } = contract;

/** All but questions for rights arrives. */
function settleUnasked(sites: Sites): void {
  sites.settle(({ message }) => message.kind === 'rights.request');
}

describe('as many as may wait for rights', () => {
  test('one more → OVERLOADED, and nothing is done; reads go on, and there is room again later', () => {
    const sites = opened(3, { maxRedInFlight: 2 });
    sites.submit(0, item);
    sites.settle();
    for (const site of [1, 2]) sites.crash(site);
    const takes = [1, 2, 3].map(() => sites.submit(0, item));
    expect(takes.map(({ code }) => code)).toEqual([undefined, undefined, 'OVERLOADED']);
    expect(sites.read(0, left({}))).toEqual([2, 0]);
    sites.pass(110);
    expect(takes.map(({ code }) => code)).toEqual(['UNAVAILABLE', 'UNAVAILABLE', 'OVERLOADED']);
    const again = sites.submit(0, item);
    expect(again).toEqual({});
    for (const site of [1, 2]) sites.start(site);
    sites.pass(60);
    expect([again.value, ledgerAt(sites, 0).left]).toEqual([{ sold: true }, 1]);
  });

  test('named → its refusal is its answer, whenever it is asked for', () => {
    const sites = opened(3, { maxRedInFlight: 1 });
    sites.submit(0, item);
    sites.settle();
    for (const site of [1, 2]) sites.crash(site);
    sites.submit(0, item);
    const refused = [0, 0].map(() => sites.ask(0, item, { id: 'ann/1' }));
    sites.sync(0);
    for (const site of [1, 2]) sites.start(site);
    sites.pass(60);
    refused.push(sites.ask(0, item, { id: 'ann/1' }));
    sites.settle();
    expect(refused.map(({ code }) => code)).toEqual(['OVERLOADED', 'OVERLOADED', 'OVERLOADED']);
    expect(ledgerAt(sites, 0).left).toBe(1);
  });

  test('several copies of a named one, whose time is over at once → one answer, decided once', () => {
    const sites = opened(3);
    sites.submit(0, item);
    sites.settle();
    for (const site of [1, 2]) sites.crash(site);
    const replica = sites.machines[0];
    if (replica === undefined) throw new Error('it is down');
    const store = vi.spyOn(replica, 'store');
    const takes = [1, 2, 3, 4].map(() => sites.ask(0, item, { id: 'ann/1' }));
    sites.pass(110);
    expect(takes.map(({ code }) => code)).toEqual(takes.map(() => 'UNAVAILABLE'));
    expect(store.mock.calls.filter(([{ kind }]) => kind === 'slot')).toHaveLength(1);
  });

  test('one that would wait for several fields, given up → it is not counted any more', () => {
    const sites = opened(3, { maxRedInFlight: 1 });
    sites.submit(0, item);
    sites.settle();
    for (const site of [1, 2]) sites.crash(site);
    const first = sites.submit(0, contract.sellBoth({ seats: 1 }));
    sites.abandon(0);
    const second = sites.submit(0, item);
    expect([first.code, second]).toEqual(['ABORTED', {}]);
  });
});

describe('waiting for several fields', () => {
  test('one right is here, the other elsewhere, and no site can spare any → both come together in the pool', () => {
    const sites = opened(3);
    sites.submit(1, item);
    sites.settle();
    const taken = sites.submit(1, contract.sellBoth({ seats: 1 }));
    sites.settle();
    expect([taken.value, ledgerAt(sites, 0).left, ledgerAt(sites, 0, 'coats').left]).toEqual([
      { sold: true },
      1,
      2,
    ]);
  });

  test('an operation that lacks the second field → others may still take the first one', () => {
    const sites = opened(6);
    sites.submit(1, contract.sellBoth({ seats: 2 }));
    settleUnasked(sites);
    sites.sent = [];
    const both = sites.submit(1, contract.sellBoth({ seats: 1 }));
    const taken = sites.submit(1, item);
    const isOfCoats = ({ message }: Sites['sent'][number]): boolean =>
      message.kind === 'rights.request' && message.requests.some(({ field }) => field === 'coats');
    sites.settle(isOfCoats);
    expect([both, taken.value]).toEqual([{}, { sold: true }]);
    sites.settle();
    sites.pass(60);
    expect(both.value).toEqual({ sold: true });
  });
});

describe('rejected in the red order, and waiting for rights', () => {
  /** Two red takes of all that the pool has: that of site 1 is the second one. */
  function twoOfThePool(): {
    readonly sites: Sites;
    readonly codes: () => unknown[];
    readonly token: number;
  } {
    const sites = opened(6);
    sites.submit(1, sellInOrder({ seats: 2 }));
    sites.abandon(1);
    sites.settle();
    expect(held(sites)).toEqual([2, 0, 2, 2]);
    const takes = [0, 1].map((site) => sites.submit(site, sellInOrder({ seats: 2 })));
    settleUnasked(sites);
    return {
      sites,
      codes: () => takes.map(({ code, value }) => code ?? value),
      token: sites.lastSerial,
    };
  }

  test('given up → nothing of it was done, and nothing will be', () => {
    const { sites, codes, token } = twoOfThePool();
    expect([codes(), ledgerAt(sites, 1).left]).toEqual([[{ sold: true }, undefined], 4]);
    sites.abandon(1, token);
    expect(codes()).toEqual([{ sold: true }, 'ABORTED']);
    sites.settle();
    sites.pass(200);
    expect(ledgerAt(sites, 1).left).toBe(4);
  });

  test('not given up → it takes once rights have come', () => {
    const { sites, codes } = twoOfThePool();
    sites.settle();
    sites.pass(60);
    expect([codes(), ledgerAt(sites, 1).left]).toEqual([[{ sold: true }, { sold: true }], 2]);
  });
});

describe('behind one that waits for rights in the red order', () => {
  /** A sale of which nothing is left but what site 1 holds, which is away. */
  function leftAway(count: number, value: Parameters<typeof opened>[1] = {}): Sites {
    const sites = opened(3 * count, value);
    sites.crash(1);
    for (const site of [0, 2]) sites.submit(site, sell({ seats: count }));
    sites.settle();
    expect(held(sites)).toEqual([0, count, 0, 0]);
    return sites;
  }

  test('many that lack the same amount → all fail at one time; an operation that only reads waits for none', () => {
    const sites = leftAway(30);
    const takes = Array.from({ length: 12 }, () => sites.submit(0, sellInOrder({ seats: 1 })));
    const refused = sites.submit(0, sellInOrder({ seats: 31 }));
    sites.settle();
    expect(refused.value).toEqual({ sold: false });
    sites.pass(100);
    expect(takes.map(({ code }) => code)).toEqual(takes.map(() => 'UNAVAILABLE'));
  });

  test('an operation that wants less, and can have it → gets it at once', () => {
    const sites = opened(60);
    sites.crash(1);
    const large = sites.submit(0, sellInOrder({ seats: 45 }));
    const small = [1, 2, 3].map(() => sites.submit(0, sellInOrder({ seats: 1 })));
    sites.pass(20);
    expect([large, small.map(({ value }) => value)]).toEqual([
      {},
      small.map(() => ({ sold: true })),
    ]);
    sites.pass(100);
    expect([large.code, ledgerAt(sites, 0).left]).toEqual(['UNAVAILABLE', 57]);
  });

  test('an operation that waited for another, until that was rejected → waits for rights beside it', () => {
    const sites = opened(6, { maxPipelineLength: 0 });
    sites.submit(1, sellInOrder({ seats: 2 }));
    sites.abandon(1);
    sites.settle();
    sites.crash(2);
    sites.submit(0, sell({ seats: 2 }));
    sites.settle();
    expect(held(sites)).toEqual([0, 0, 2, 2]);
    const [first, ...later] = [0, 1, 1].map((site) =>
      sites.submit(site, sellInOrder({ seats: 2 - site })),
    );
    sites.settle();
    expect([first?.value, later]).toEqual([{ sold: true }, [{}, {}]]);
    sites.pass(100);
    expect(later.map(({ code }) => code)).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
  });

  test('rights come while one that has passed it is on its way → it goes behind that one, and is not rejected', () => {
    const onRejected = vi.fn();
    const sites = opened(20, { observer: { onRejected } });
    sites.submit(1, sellInOrder({ seats: 11 }));
    sites.abandon(1);
    sites.settle();
    const { pool } = ledgerAt(sites, 1);
    const large = sites.submit(1, sellInOrder({ seats: pool + 3 }));
    const small = sites.submit(1, sellInOrder({ seats: 1 }));
    sites.settle(({ message }) => message.kind.startsWith('log.'));
    expect([large, small, ledgerAt(sites, 1).pool]).toEqual([{}, {}, pool + 3]);
    sites.settle();
    sites.pass(60);
    expect([large.value, small.value, onRejected.mock.calls]).toEqual([
      { sold: true },
      { sold: true },
      [],
    ]);
  });
});
