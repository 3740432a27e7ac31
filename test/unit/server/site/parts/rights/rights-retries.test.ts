/**
 * Takes that the red order rejects: for how long they are executed again, and with what they fail
 * then.
 */
import { expect, test, vi } from 'vitest';
import type { Outcome, Sites } from '../../sites.ts';
import { contract, held, item, opened } from './sale.ts';

const { count, open, openInOrder, sellInOrder } = contract;

const SOLD = { sold: true };
/** As long as sites may be out of reach, in these tests. */
const REACH_MS = 100;

const isProposal = ({ message }: Sites['sent'][number]): boolean => message.kind === 'log.propose';

const isTry = ({ kind }: { readonly kind: string }): boolean => kind === 'operation';

/** 10 ms go by in which nothing comes to the leader, or from it. */
function passUnled(sites: Sites): void {
  sites.tick();
  for (const site of [0, 1, 2]) sites.sync(site);
  const isLost = ({ from, to }: Sites['sent'][number]): boolean => from === 0 || to === 0;
  sites.deliver((sent) => !isLost(sent));
  sites.sent = sites.sent.filter((sent) => !isLost(sent));
}

test.each([0, 50, 300])(
  'the leader was away for %i ms before → crowds of all sites get what stands',
  (awayMs) => {
    const sites = opened(90, { maxAttempts: 2 });
    const takes = Array.from({ length: 60 }, (_, n) =>
      sites.submit(n % 3, sellInOrder({ seats: 1 })),
    );
    for (const untilMs = sites.nowMs + awayMs; sites.nowMs < untilMs;) passUnled(sites);
    sites.settle();
    sites.pass(2 * REACH_MS);
    expect(takes.map(({ value, code }) => code ?? value)).toEqual(takes.map(() => SOLD));
  },
);

/**
 * Adds one seat at the leader's site, and takes it there before a waiting take at site 2 gets it.
 */
function snatch(sites: Sites): void {
  sites.submit(0, open({ seats: 1 }));
  for (let ticks = 0; ticks < 3 && !sites.sent.some(isProposal); ticks += 1) {
    sites.settle(isProposal);
    sites.tick();
  }
  sites.settle(isProposal);
  sites.submit(0, sellInOrder({ seats: 1 }));
  sites.settle();
}

/**
 * Sites 0 and 2 have sold theirs: what is left is at site 1, which is away, so that it is not sold
 * out.
 */
function leftAway(): Sites {
  const sites = opened(3, { maxAttempts: 100 });
  for (const site of [0, 2]) {
    sites.submit(site, item);
    sites.settle();
  }
  sites.crash(1);
  return sites;
}

const hasEnded = ({ code, value }: Outcome): boolean => code !== undefined || value !== undefined;

test('others take each new seat → the take fails after at most two wait times, however many attempts it has', () => {
  const sites = leftAway();
  const taken: Outcome = sites.submit(2, sellInOrder({ seats: 1 }));
  while (!hasEnded(taken) && sites.nowMs < 10 * REACH_MS) {
    sites.pass(60);
    if (!hasEnded(taken)) snatch(sites);
  }
  expect([taken.code, held(sites)]).toEqual(['UNAVAILABLE', [0, 1, 0, 0]]);
  expect(sites.nowMs).toBeLessThan(3 * REACH_MS);
});

/**
 * 10 ms in which a named operation of site 2 changes the row in the red order, and ends while the
 * one that comes behind it is handed over: who looks again then finds that one, which is not
 * proposed yet.
 */
function busyTick(sites: Sites, number: number): void {
  sites.ask(2, openInOrder({ seats: 0 }), { id: `ann/${number}`, home: 2 });
  do {
    sites.sync(0);
    sites.sync(2, ['red']);
  } while (sites.deliver());
  sites.tick();
  sites.sync(2);
}

test.each([1, 100])(
  '%i takes at a site that is always busy with the row → they fail after one wait time',
  (count) => {
    const sites = leftAway();
    const taken = Array.from({ length: count }, () => sites.submit(2, sellInOrder({ seats: 1 })));
    const { state } = sites.machines[2]!;
    const runs = [vi.spyOn(state, 'run'), vi.spyOn(state, 'runPipelined')];
    let others = 0;
    for (; !taken.every(hasEnded) && sites.nowMs < 10 * REACH_MS; others += 1)
      busyTick(sites, others);
    expect(taken.filter(({ code }) => code === 'UNAVAILABLE')).toHaveLength(count);
    // With the trip of what ends them in the red order.
    expect(sites.nowMs).toBeLessThanOrEqual(REACH_MS + 10);
    // One of a crowd looks for all, whenever the row has changed.
    for (const { mock } of runs) expect(mock.calls.length).toBeLessThan(2 * count + 10 * others);
  },
);

test('rejected after it has waited → its time begins once more, from there', () => {
  const sites = leftAway();
  const taken = sites.submit(2, item);
  sites.pass(60);
  snatch(sites);
  sites.pass(REACH_MS - 10);
  expect(taken).toEqual({});
  sites.pass(20);
  expect(taken.code).toBe('UNAVAILABLE');
});

test('what has come is gone before it is handed over → what it has waited for that counts', () => {
  const sites = leftAway();
  const taken = sites.ask(2, item, { id: 'ann/1', home: 2 });
  sites.pass(50);
  sites.submit(0, open({ seats: 1 }));
  const machine = sites.machines[2];
  const waits = (): boolean => machine?.rights?.isBusy === true;
  // Until it is red, and its site has not synced that.
  while (waits()) {
    for (const step of [() => sites.sync(0), () => sites.sync(2), () => sites.deliver()])
      if (waits()) step();
    if (waits() && sites.sent.length === 0) sites.tick();
  }
  expect([...(machine?.red.inFlight ?? [])]).toEqual(['ann/1']);
  const first = sites.submit(0, sellInOrder({ seats: 1 }));
  do {
    sites.sync(0);
    sites.sync(2, ['red']);
  } while (sites.deliver());
  sites.settle();
  expect([first.value, taken, held(sites)]).toEqual([{ sold: true }, {}, [0, 1, 0, 0]]);
  sites.pass(REACH_MS - sites.nowMs);
  expect(taken.code).toBe('UNAVAILABLE');
});

test('waits, then for another one to end, then lacks some still → both times count together', () => {
  const sites = opened(20);
  sites.submit(1, sellInOrder({ seats: 11 }));
  sites.abandon(1);
  sites.settle();
  expect(held(sites)).toEqual([3, 0, 6, 11]);
  sites.crash(2);
  const taken = sites.submit(1, sellInOrder({ seats: 14 }));
  while (sites.nowMs < REACH_MS / 2) {
    sites.tick();
    sites.settle(({ message }) => message.kind === 'rights.request');
  }
  const small = sites.submit(1, sellInOrder({ seats: 1 }));
  sites.settle(({ message }) => message.kind.startsWith('log.'));
  expect([sites.machines[1]?.rights?.isBusy, held(sites)]).toEqual([false, [0, 0, 6, 14]]);
  sites.settle();
  expect([small.value, taken, sites.machines[1]?.rights?.isBusy]).toEqual([
    { sold: true },
    {},
    true,
  ]);
  sites.pass(REACH_MS - sites.nowMs);
  expect(taken.code).toBe('UNAVAILABLE');
});

test('what is left is read alone, and changed by others each time → CONFLICT after as many tries as any red operation', () => {
  const sites = opened(90, { maxAttempts: 2 });
  const counted = sites.submit(2, count({}));
  const isMeant = (sent: Sites['sent'][number]): boolean => sent.from === 2 && isProposal(sent);
  let tries = 0;
  for (let n = 0; n < 9 && counted.code === undefined; n += 1) {
    // More is given before what site 2 proposes is there.
    const value = sites.submit(0, openInOrder({ seats: 1 }));
    sites.settle(isMeant);
    expect(value.value).toBe(null);
    tries += sites.sent.filter(
      (sent) => sent.message.kind === 'log.propose' && isTry(sent.message.record),
    ).length;
    sites.deliver(isMeant);
    sites.settle(isMeant);
  }
  expect([counted.code, tries]).toEqual(['CONFLICT', 2]);
});
