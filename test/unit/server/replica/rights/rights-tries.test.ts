/** Takes that the red order rejects: for how long they are executed again, and what they are told then. */
import { expect, test } from 'vitest';
import type { Outcome, Sites } from '../sites.ts';
import { contract, held, one, opened } from './sale.ts';

const { count, open, openInOrder, sellInOrder } = contract;

const SOLD = { sold: true };
/** As long as sites may be out of reach, in these tests. */
const REACH_MS = 100;

const isProposal = ({ message }: Sites['sent'][number]): boolean => message.kind === 'log.propose';

const isTry = ({ kind }: { readonly kind: string }): boolean => kind === 'operation';

/** 10 ms go by in which nothing comes to the leader, or from it. */
function passUnled(sites: Sites): void {
  sites.nowMs += 10;
  for (const site of [0, 1, 2]) sites.machines[site]?.tick(sites.nowMs, sites.nowMs);
  for (const site of [0, 1, 2]) sites.sync(site);
  const isLost = ({ from, to }: Sites['sent'][number]): boolean => from === 0 || to === 0;
  sites.deliver((sent) => !isLost(sent));
  sites.sent = sites.sent.filter((sent) => !isLost(sent));
}

test.each([0, 50, 300])('the leader was away for %i ms before → crowds of all sites get what stands', (awayMs) => {
  const sites = opened(90, { attemptsMax: 2 });
  const takes = Array.from({ length: 60 }, (_, n) => sites.submit(n % 3, sellInOrder({ seats: 1 })));
  for (const untilMs = sites.nowMs + awayMs; sites.nowMs < untilMs;) passUnled(sites);
  sites.settle();
  sites.pass(2 * REACH_MS);
  expect(takes.map(({ value, code }) => code ?? value)).toEqual(takes.map(() => SOLD));
});

/** Gives one at the leader's site, and has it taken there before who waits for it at site 2 draws on it. */
function snatch(sites: Sites): void {
  const flow = (): void => {
    do for (const site of [0, 2]) sites.sync(site);
    while (sites.deliver((sent) => !isProposal(sent)));
  };
  sites.submit(0, open({ seats: 1 }));
  for (let tick = 0; tick < 3 && !sites.sent.some(isProposal); tick += 1) {
    flow();
    sites.nowMs += 10;
    for (const site of [0, 2]) sites.machines[site]?.tick(sites.nowMs, sites.nowMs);
  }
  flow();
  sites.submit(0, sellInOrder({ seats: 1 }));
  sites.settle();
}

test('what comes is taken by others each time → it is told so after two such times at most, however often it may try', () => {
  const sites = opened(3, { attemptsMax: 100 });
  for (const site of [0, 2]) {
    sites.submit(site, one);
    sites.settle();
  }
  // It holds the one that is left, so that it is not sold out.
  sites.crash(1);
  const taken: Outcome = sites.submit(2, sellInOrder({ seats: 1 }));
  const isOver = (): boolean => taken.code !== undefined || taken.value !== undefined;
  while (!isOver() && sites.nowMs < 10 * REACH_MS) {
    sites.pass(60);
    if (!isOver()) snatch(sites);
  }
  expect([taken, held(sites)]).toEqual([{ code: 'UNAVAILABLE' }, [0, 1, 0, 0]]);
  expect(sites.nowMs).toBeLessThan(3 * REACH_MS);
});

test('what is left is read alone, and changed by others each time → CONFLICT after as many tries as any red operation', () => {
  const sites = opened(90, { attemptsMax: 2 });
  const counted = sites.submit(2, count({}));
  const isMeant = (sent: Sites['sent'][number]): boolean => sent.from === 2 && isProposal(sent);
  const flow = (): void => {
    do for (const site of [0, 1, 2]) sites.sync(site);
    while (sites.deliver((sent) => !isMeant(sent)));
  };
  let tries = 0;
  for (let n = 0; n < 9 && counted.code === undefined; n += 1) {
    // More is given before what site 2 proposes is there.
    const given = sites.submit(0, openInOrder({ seats: 1 }));
    flow();
    expect(given.value).toBe(null);
    tries += sites.sent.filter((sent) => sent.message.kind === 'log.propose' && isTry(sent.message.record)).length;
    sites.deliver(isMeant);
    flow();
  }
  expect([counted.code, tries]).toEqual(['CONFLICT', 2]);
});
