/**
 * Rights to a bounded field, step by step: who may take, who asks whom, and what becomes of them.
 */
// @rule RIGHTS-3, RIGHTS-4, RIGHTS-5, RIGHTS-6, RIGHTS-8, RIGHTS-9, RIGHTS-11, RIGHTS-12
import { describe, expect, test } from 'vitest';
import { siteAt } from '../../../../../support/origins.ts';
import { Sites } from '../../sites.ts';
import { contract, held, ledgerAt, item, opened, service } from './sale.ts';

const { open, sell, sellInOrder, sellBlindly, sellBlindlyInOrder, left } = contract;

const isToLeader = ({ message }: { readonly message: { readonly kind: string } }): boolean =>
  message.kind === 'log.propose';

describe('rights', () => {
  test('what one site gives → all have equal shares of it before anybody asks', () => {
    const sites = opened(10);
    expect(held(sites)).toEqual([4, 3, 3, 0]);
    expect([0, 1, 2].map((site) => sites.read(site, left({})))).toEqual([
      [10, 4],
      [10, 3],
      [10, 3],
    ]);
  });

  test('a take within the rights of its site → final once it is synced, even if no other site can be reached', () => {
    const sites = opened(9);
    const taken = sites.submit(1, item);
    sites.sync(1);
    expect(taken.value).toEqual({ sold: true });
    expect(sites.sent.filter(isToLeader)).toEqual([]);
  });

  test('50 takes at once of the last right → one gets it, the others get false by the red order', () => {
    const sites = opened(1);
    expect(held(sites)).toEqual([1, 0, 0, 0]);
    const takes = Array.from({ length: 50 }, () => sites.submit(0, item));
    expect(takes.every(({ value, code }) => value === undefined && code === undefined)).toBe(true);
    sites.settle();
    const values = takes.map(({ value }) => (value as { sold: boolean } | undefined)?.sold);
    expect(values.filter(Boolean)).toHaveLength(1);
    expect(values.filter((item) => item === false)).toHaveLength(49);
    expect([ledgerAt(sites, 1).left, held(sites)]).toEqual([0, [0, 0, 0, 0]]);
  });

  test('a site with little left → asks the site with the most, before its rights run out, for at most half of them', () => {
    const sites = opened(30);
    for (let n = 0; n < 6; n += 1) sites.submit(1, item);
    sites.sync(1);
    const requested = sites.sent.filter(({ message }) => message.kind === 'rights.request');
    const asks = requested.map(({ message }) =>
      message.kind === 'rights.request' ? message.requests[0]?.amount : undefined,
    );
    expect(asks).toEqual([5, 1]);
    sites.settle();
    expect(ledgerAt(sites, 0).getHolding(siteAt(1))).toBeGreaterThan(4);
    expect(ledgerAt(sites, 0).left).toBe(24);
  });

  test('the same question twice, and late → given once', () => {
    const sites = opened(30);
    for (let n = 0; n < 6; n += 1) sites.submit(1, item);
    sites.sync(1);
    const [requested] = sites.sent.filter(({ message }) => message.kind === 'rights.request');
    if (requested === undefined) throw new Error('nothing was asked for');
    sites.sent.push(requested, requested);
    sites.settle();
    const after = held(sites);
    sites.sent.push(requested);
    sites.settle();
    expect(held(sites)).toEqual(after);
  });

  test('what a site has given away and not written down yet → it takes no more itself', () => {
    const sites = opened(30);
    for (let n = 0; n < 6; n += 1) sites.submit(1, item);
    sites.sync(1);
    sites.deliver(({ message }) => message.kind === 'rights.request');
    const taken = sites.submit(0, sell({ seats: 10 }));
    sites.sync(0);
    expect(taken).toEqual({});
    sites.settle();
    sites.pass(60);
    expect([taken.value, ledgerAt(sites, 0).left]).toEqual([{ sold: true }, 14]);
    expect(held(sites).filter((rights) => rights < 0)).toEqual([]);
  });

  test('more is given at one site → it shares that, the others keep theirs', () => {
    const sites = opened(9);
    sites.submit(0, open({ seats: 9 }));
    sites.settle();
    expect(held(sites)).toEqual([6, 6, 6, 0]);
  });

  test('two other sites give each other rights → that is no reply: no site is asked once more', () => {
    const sites = opened(30);
    const findBySubmission = (site: number): number =>
      sites.sent.filter(({ from, message }) => from === site && message.kind === 'rights.request')
        .length;
    for (let n = 0; n < 6; n += 1) sites.submit(1, item);
    sites.sync(1);
    expect(findBySubmission(1)).toBe(2);
    sites.sent = sites.sent.filter(({ message }) => message.kind !== 'rights.request');
    for (let n = 0; n < 6; n += 1) sites.submit(2, item);
    sites.settle();
    expect(ledgerAt(sites, 1).getHolding(siteAt(2))).toBeGreaterThan(4);
    sites.submit(1, item);
    expect(findBySubmission(1)).toBe(0);
  });

  test('a request that is lost → resent as long as a take waits', () => {
    const sites = opened(12);
    const takes = Array.from({ length: 6 }, () => sites.submit(1, item));
    sites.settle(({ message }) => message.kind === 'rights.request');
    sites.sent = [];
    expect(takes.filter(({ value }) => value !== undefined)).toHaveLength(4);
    sites.pass(40);
    expect(takes.every(({ value }) => (value as { sold: boolean } | undefined)?.sold)).toBe(true);
  });

  test('more than any site holds → handed in, and taken from the pool in the red order', () => {
    const sites = opened(6);
    const taken = sites.submit(1, sell({ seats: 5 }));
    sites.settle();
    expect([taken.value, ledgerAt(sites, 0).left]).toEqual([{ sold: true }, 1]);
    expect(ledgerAt(sites, 2).pool).toBeGreaterThanOrEqual(0);
  });

  test('two that take more than any site holds, at two sites, of what is enough for one → one has it', () => {
    const sites = opened(6);
    const takes = [sites.submit(1, sell({ seats: 5 })), sites.submit(2, sell({ seats: 5 }))];
    sites.settle();
    sites.pass(60);
    expect(takes.map(({ value }) => (value as { sold: boolean }).sold).toSorted()).toEqual([
      false,
      true,
    ]);
    expect(ledgerAt(sites, 0).left).toBe(1);
  });

  test('what is left belongs to a site that is away → UNAVAILABLE after a while, and never sold out', () => {
    const sites = opened(3);
    sites.submit(0, item);
    sites.submit(2, item);
    sites.settle();
    sites.crash(1);
    const taken = sites.submit(0, item);
    sites.pass(50);
    expect(taken).toEqual({});
    sites.pass(100);
    expect(taken.code).toBe('UNAVAILABLE');
    sites.start(1);
    sites.settle();
    const again = sites.submit(0, item);
    sites.settle();
    sites.pass(40);
    expect(again.value).toEqual({ sold: true });
  });

  test('given up while it waits → it never takes effect', () => {
    const sites = opened(3);
    sites.submit(0, item);
    sites.settle();
    sites.crash(1);
    sites.crash(2);
    const taken = sites.submit(0, item);
    sites.abandon(0);
    expect(taken.code).toBe('ABORTED');
    sites.start(1);
    sites.start(2);
    sites.settle();
    sites.pass(200);
    expect(ledgerAt(sites, 0).left).toBe(2);
  });

  test('a crash before a take is synced → as if it had never been; after a start rights are as they were', () => {
    const sites = opened(3);
    sites.submit(0, item);
    sites.crash(0);
    sites.start(0);
    sites.settle();
    expect(held(sites)).toEqual([1, 1, 1, 0]);
    const takes = [sites.submit(0, item), sites.submit(0, item)];
    sites.sync(0);
    expect(takes.map(({ value }) => value)).toEqual([{ sold: true }, undefined]);
    sites.settle();
    sites.pass(40);
    expect([takes[1]?.value, ledgerAt(sites, 1).left]).toEqual([{ sold: true }, 1]);
  });

  test('started on a red log that has come back empty → gives away nothing that its takes may have used', () => {
    const sites = opened(9);
    sites.submit(0, contract.sellInOrder({ seats: 1 }));
    sites.settle();
    sites.submit(1, item);
    sites.settle();
    expect(ledgerAt(sites, 0).getHolding(siteAt(1))).toBe(2);
    sites.submit(2, sell({ seats: 7 }));
    const isReplyExpected = ({ to, message }: Sites['sent'][number]): boolean =>
      to === 1 && message.kind === 'rights.request';
    expect(sites.sent.some(isReplyExpected)).toBe(true);
    sites.crash(1);
    sites.loseRed(1);
    sites.start(1);
    expect(ledgerAt(sites, 1).getHolding(siteAt(1))).toBe(3);
    sites.deliver(isReplyExpected);
    sites.sync(1);
    expect(
      sites.sent.filter(({ from, message }) => from === 1 && message.kind === 'blue.operations'),
    ).toEqual([]);
  });

  test('two that have not looked, of what is enough for one → the other one fails at once, in the red order', () => {
    const sites = opened(6);
    const takes = [1, 2].map((site) => sites.submit(site, sellBlindly({ seats: 5 })));
    sites.settle();
    expect(takes.map(({ value, code }) => value ?? code)).toContainEqual({ sold: true });
    expect(takes.map(({ code }) => code)).toContain('FINAL_FAILED');
    expect(ledgerAt(sites, 0).left).toBe(1);
  });

  test('one that has not looked, behind one that may come to nothing → fails only by what is decided', () => {
    const sites = opened(6);
    sites.submit(1, sell({ seats: 6 }));
    sites.abandon(1);
    sites.settle();
    expect(held(sites)).toEqual([0, 0, 0, 6]);
    const first = sites.submit(0, sellInOrder({ seats: 3 }));
    const refused = sites.submit(1, sellInOrder({ seats: 4 }));
    const taken = sites.submit(1, sellBlindlyInOrder({ seats: 3 }));
    sites.settle();
    expect([first.value, refused.value]).toEqual([{ sold: true }, { sold: false }]);
    expect([taken, ledgerAt(sites, 0).left]).toMatchObject([{ value: { sold: true } }, 0]);
  });

  test('named, given up while it waits, and asked for again once there are rights → done once', () => {
    const sites = opened(3);
    sites.submit(0, item);
    sites.settle();
    for (const site of [1, 2]) sites.crash(site);
    const left = sites.ask(0, item, { id: 'ann/1' });
    sites.abandon(0);
    expect(left.code).toBe('UNKNOWN');
    for (const site of [1, 2]) sites.start(site);
    sites.settle();
    const again = sites.ask(0, item, { id: 'ann/1' });
    sites.settle();
    sites.pass(60);
    expect([again.value ?? again.code, ledgerAt(sites, 0).left]).toEqual([{ sold: true }, 1]);
  });

  test('more than a number holds exactly, all taken, and one more → never below nothing', () => {
    const sites = new Sites(service, 1, { maxAttempts: 5 });
    for (const count of [Number.MAX_SAFE_INTEGER, 4]) sites.submit(0, open({ seats: count }));
    sites.settle();
    const takes = [Number.MAX_SAFE_INTEGER, 5].map((count) =>
      sites.submit(0, sell({ seats: count })),
    );
    sites.settle();
    expect([takes[0]?.value, ledgerAt(sites, 0).getHolding(siteAt(0))]).toEqual([
      { sold: true },
      4,
    ]);
    sites.pass(110);
    expect(ledgerAt(sites, 0).getHolding(siteAt(0))).toBe(4);
  });
});
