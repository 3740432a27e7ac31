/**
 * Takes right after rights were added: those rights are still on their way to the site that is
 * asked for them.
 */
import { expect, test } from 'vitest';
import { siteAt } from '../../../../../support/origins.ts';
import type { Outcome } from '../../sites.ts';
import { Sites } from '../../sites.ts';
import { contract, held, ledgerAt, service } from './sale.ts';

const { open, sell, sellInOrder } = contract;
const SOLD = { sold: true };
/** Until a question is overdue, in these tests. */
const RESEND_MS = 10;

type Sent = Sites['sent'][number];
const isAsk = ({ message }: Sent): boolean => message.kind === 'rights.request';

/**
 * Three sites, of which the first one has opened `count` seats and shared them out. The others have
 * heard of none yet.
 */
function openAtFirst(count: number): Sites {
  const sites = new Sites(service, 3, { maxAttempts: 5 });
  sites.submit(0, open({ seats: count }));
  sites.sync(0);
  sites.sync(0);
  return sites;
}

/**
 * The same, and a take at the first site whose questions have come to the others, which have
 * nothing yet.
 */
function askedEarly(
  count: number,
  take: { name: string; args: unknown },
): { sites: Sites; taken: Outcome } {
  const sites = openAtFirst(count);
  const taken = sites.submit(0, take);
  expect(sites.sent.filter(isAsk)).not.toEqual([]);
  for (const site of [1, 2]) sites.sync(site);
  sites.deliver(isAsk);
  return { sites, taken };
}

test.each([
  ['for rights that others can spare', sell({ seats: 12 })],
  ['for nearly all rights', sell({ seats: 29 })],
  ['for all rights, in the red order', sellInOrder({ seats: 30 })],
])(
  'a request %s arrives before the rights that it asks for → answered once they are there',
  (_of, take) => {
    const { sites, taken } = askedEarly(30, take);
    sites.settle();
    expect([taken.value, sites.nowMs]).toEqual([SOLD, 0]);
  },
);

test.each([1, 2])(
  'synced %i times before the take → its own share is in flight, and no take waits for a reply',
  (times) => {
    const sites = new Sites(service, 2, { maxAttempts: 5 });
    sites.submit(0, open({ seats: 10 }));
    for (let n = 0; n < times; n += 1) sites.sync(0);
    const taken = sites.submit(0, sell({ seats: 7 }));
    sites.settle();
    expect([taken.value, ledgerAt(sites, 1).left]).toEqual([SOLD, 3]);
  },
);

test('the same request twice, both early → no more rights are given than requested', () => {
  const sites = openAtFirst(30);
  const taken = sites.submit(0, sell({ seats: 29 }));
  const requested = sites.sent.filter(isAsk);
  sites.sent.push(...requested, ...requested);
  sites.deliver(isAsk);
  sites.settle();
  expect([taken.value, held(sites)]).toEqual([SOLD, [0, 0, 1, 0]]);
  sites.sent.push(...requested);
  sites.settle();
  expect(held(sites)).toEqual([0, 0, 1, 0]);
});

test('no rights have come when a request is overdue → the request is dropped, and no rights are given for it', () => {
  const { sites } = askedEarly(30, sell({ seats: 12 }));
  sites.nowMs += RESEND_MS;
  for (const site of [1, 2]) sites.machines[site]?.tick(sites.nowMs, sites.nowMs);
  sites.settle();
  expect(held(sites)).toEqual([10, 10, 10, 0]);
});

test('started again before its share is there → nothing that was asked is remembered', () => {
  const { sites } = askedEarly(30, sell({ seats: 12 }));
  for (const site of [1, 2]) {
    sites.crash(site);
    sites.start(site);
  }
  sites.settle();
  expect([1, 2].map((site) => ledgerAt(sites, 0).getHolding(siteAt(site)))).toEqual([10, 10]);
});
