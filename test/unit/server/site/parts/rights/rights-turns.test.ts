/** Takes in the red order of sites that are not equally near to its leader: each has its turn. */
import { expect, test } from 'vitest';
import type { Outcome, Sites } from '../../sites.ts';
import { contract, ledgerAt, opened, pooled } from './sale.ts';

const { count, openInOrder, sellInOrder } = contract;

const SOLD = { sold: true };
const item = sellInOrder({ seats: 1 });
/** Until who was not rejected again may have been given up, in these tests. */
const MET_MS = 10;

const isFar = ({ from, message }: Sites['sent'][number]): boolean =>
  from === 2 && message.kind === 'log.propose';

/** A take at site 2 that was rejected, since one at the leader's site came before it. */
function rejected(): { sites: Sites; far: Outcome } {
  const sites = opened(90, { maxAttempts: 100 });
  const far = sites.submit(2, item);
  sites.settle(isFar);
  expect(sites.submit(0, item)).toEqual({});
  sites.settle(isFar);
  sites.deliver(isFar);
  sites.settle(isFar);
  expect([far, ledgerAt(sites, 0).takes]).toEqual([{}, 1]);
  return { sites, far };
}

test('a take of another site was rejected → one that begins then waits until that has its turn', () => {
  const { sites, far } = rejected();
  const near = sites.submit(0, item);
  sites.settle(isFar);
  expect([near, ledgerAt(sites, 0).takes]).toEqual([{}, 1]);
  sites.settle();
  expect([far.value, near.value, sites.nowMs]).toEqual([SOLD, SOLD, 0]);
});

test('what takes nothing → does not wait for it', () => {
  const { sites } = rejected();
  const counted = sites.submit(0, count({}));
  sites.settle(isFar);
  expect(counted.value).toBe(89);
});

test('not rejected again for long → the waiting operation goes on', () => {
  const { sites } = rejected();
  const near = sites.submit(0, item);
  for (let ms = 0; ms < MET_MS; ms += 10) {
    sites.settle(isFar);
    expect(near).toEqual({});
    sites.nowMs += 10;
    sites.machines[0]?.tick(sites.nowMs, sites.nowMs);
    // There is nothing of that serial: what the tick has put out goes on its way.
    sites.abandon(0, 0);
  }
  sites.settle(isFar);
  expect(near.value).toEqual(SOLD);
});

test('given up while it waits for the other one → it takes nothing', () => {
  const { sites, far } = rejected();
  const near = sites.submit(0, item);
  sites.settle(isFar);
  sites.abandon(0);
  sites.settle();
  sites.pass(2 * MET_MS);
  expect([near.code, far.value, ledgerAt(sites, 0).takes]).toEqual(['ABORTED', SOLD, 2]);
});

test('takes of two sites were rejected, and the first one once more → neither waits for the other', () => {
  const sites = opened(90, { maxAttempts: 100 });
  const isHeld = ({ from, message }: Sites['sent'][number]): boolean =>
    from > 0 && message.kind === 'log.propose';
  const [far, other] = [2, 1].map((site) => sites.submit(site, item));
  sites.settle(isHeld);
  sites.submit(0, item);
  sites.settle(isHeld);
  // The one of site 2 comes to the leader first, both times.
  sites.deliver(isFar);
  sites.sync(0);
  sites.deliver(isHeld);
  sites.settle(isHeld);
  sites.submit(0, openInOrder({ seats: 1 }));
  sites.settle(isHeld);
  sites.deliver(isFar);
  sites.settle(isHeld);
  expect([far, other]).toEqual([{}, {}]);
  sites.settle();
  expect([far?.value, other?.value, sites.nowMs]).toEqual([SOLD, SOLD, 0]);
});

test('it has waited once, and another one was rejected meanwhile → it waits no more', () => {
  const { sites } = rejected();
  const near = sites.submit(0, item);
  const next = sites.submit(2, item);
  const others = [1, 1].map((site) => sites.submit(site, item));
  sites.settle();
  expect([near, next, ...others].map(({ value }) => value)).toEqual([SOLD, SOLD, SOLD, SOLD]);
});

test('the return of a pool was rejected, and is not tried again → a later take waits for no other', () => {
  const sites = pooled(12, 10);
  sites.submit(1, item);
  const isOwn = ({ from, message }: Sites['sent'][number]): boolean =>
    from === 1 && message.kind === 'log.propose';
  sites.settle(isOwn);
  sites.deliver(isOwn);
  sites.settle(isOwn);
  const taken = sites.submit(0, sellInOrder({ seats: 8 }));
  sites.settle();
  const near = sites.submit(0, item);
  sites.settle();
  expect([taken.value, near.value, sites.nowMs]).toEqual([SOLD, SOLD, 0]);
});
