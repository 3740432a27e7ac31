/**
 * A client that dies after any step: what it had taken is recovered as promised, on a real
 * ensemble.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createClient } from '../../../src/index.ts';
import { zookeeper, type DeliveryGuarantee } from '../../../src/bindings/zookeeper/index.ts';
import { dequeue, enqueue } from '../../../src/operations/index.ts';
import { CuttableRoute } from '../support/cuttable-route.ts';
import { withEnsemble } from '../support/zookeeper.ts';

const cluster = withEnsemble();
const ITEMS = ['T0', 'T1', 'T2', 'T3', 'T4'];
const STEPS = Array.from({ length: 12 }, (_, n) => n + 1);

test.each(['at-most-once', 'at-least-once'] as const)(
  'janitor: clients killed after any step → %s',
  async (delivery) => {
    const all = await Promise.all(STEPS.map((step) => takenWithDeath(step, delivery)));
    const lost = all.flatMap((taken) => ITEMS.filter((item) => !taken.includes(item)));
    const twice = all.flatMap((taken) => taken.filter((item, at) => taken.indexOf(item) < at));
    expect(new Set([...all.flat(), ...ITEMS])).toEqual(new Set(ITEMS));
    expect(delivery === 'at-most-once' ? twice : lost).toEqual([]);
    // What is not promised happens at most to what was under way.
    expect(delivery === 'at-most-once' ? lost.length : twice.length).toBeLessThanOrEqual(
      STEPS.length,
    );
    // Some die with a claim and without the item: the test has met what it is about.
    if (delivery === 'at-most-once') expect(lost.length).toBeGreaterThan(0);
  },
);

/**
 * A client takes an item and dies after so many packets; others recover what it had and drain the
 * queue.
 */
async function takenWithDeath(
  step: number,
  delivery: DeliveryGuarantee,
): Promise<readonly string[]> {
  const root = `/${delivery}-${step}`;
  await using healthy = createClient(
    zookeeper({ servers: cluster.ensemble.connectString('ireland'), root }),
  );
  const janitor = zookeeper({ servers: cluster.ensemble.connectString('virginia'), root });
  for (const item of ITEMS) await healthy.invoke(enqueue('q', item));
  const taken: string[] = [];
  const take = (found: { readonly item: string } | null): void =>
    void (found && taken.push(found.item));
  const route = await CuttableRoute.open(cluster.ensemble.address('frankfurt'), 5);
  const dead = new Promise<void>((resolve) => route.downAfter(step, resolve));
  const mortal = createClient(zookeeper({ servers: route.address, root, sessionTimeoutMs: 1_000 }));
  const taking = mortal.invoke(dequeue<string>('q'), { timeoutMs: 5_000 }).then(take, () => dead);
  await Promise.race([taking.then(() => dead), dead]);
  route.down();
  await mortal.close();
  await route[Symbol.asyncDispose]();
  // Its session has to expire before the claim is anybody else's.
  for (let looks = 0; looks < 40; looks += 1) {
    if ((await janitor.recoverOrphans(delivery)) > 0) break;
    await pause(100);
  }
  for (let n = 0; n < 8; n += 1) take(await healthy.invoke(dequeue<string>('q')));
  await janitor.close();
  return taken;
}
