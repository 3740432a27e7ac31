/** Consumers that are processes, killed with SIGKILL while they take items: what the janitor promises for their claims. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ZooKeeper, zookeeper, type Delivery } from '../../../src/bindings/zookeeper/index.ts';
import { createClient } from '../../../src/index.ts';
import { dequeue, enqueue } from '../../../src/operations/index.ts';
import { withEnsemble } from '../support/zookeeper.ts';

const cluster = withEnsemble();

const ITEMS = 300;
const VICTIMS = 6;
const script = fileURLToPath(new URL('../support/queue-consumer-process.ts', import.meta.url));

test.each(['at-most-once', 'at-least-once'] as const)(
  'janitor, %s: consumers killed with SIGKILL → what is promised holds for every item',
  async (delivery) => {
    const place = { servers: cluster.ensemble.connectString('frk'), root: `/killed-${delivery}` };
    const client = createClient(zookeeper(place));
    const items = Array.from({ length: ITEMS }, (_, n) => `item-${n}`);
    await Promise.all(items.map((item) => client.invoke(enqueue('q', item))));
    const taken: string[] = [];
    for (let victim = 1; victim <= VICTIMS; victim += 1) taken.push(...(await takenByVictim(place, victim * 7)));
    expect(taken.length).toBeGreaterThan(0);
    const rest = await drained(place, delivery);
    taken.push(...rest);
    await client.close();

    const lost = items.filter((item) => !taken.includes(item));
    if (delivery === 'at-most-once') {
      expect(taken).toEqual([...new Set(taken)]);
      // A consumer has one item in hand at a time.
      expect(lost.length).toBeLessThanOrEqual(VICTIMS);
    } else {
      expect(lost).toEqual([]);
      // Clean-up runs behind the deliveries: what a victim had told last may come again, what others took may not.
      expect(new Set(rest).size).toBe(rest.length);
    }
  },
);

interface Place {
  readonly servers: string;
  readonly root: string;
}

/** Starts a consumer, kills it after so many items, and returns what it had written by then. */
async function takenByVictim({ servers, root }: Place, killAfter: number): Promise<string[]> {
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', script, servers, root, 'q'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const taken: string[] = [];
  if (child.stdout === null) throw new Error('the consumer has no output');
  createInterface({ input: child.stdout }).on('line', (item) => {
    taken.push(item);
    if (taken.length === killAfter) child.kill('SIGKILL');
  });
  await ended;
  return taken;
}

/** Takes everything that is left, the claims of the dead included. */
async function drained(place: Place, delivery: Delivery): Promise<string[]> {
  const binding = zookeeper(place);
  const client = createClient(binding);
  const taken: string[] = [];
  const takeAll = async (): Promise<void> => {
    for (;;) {
      const found = await client.invoke(dequeue<string>('q'));
      if (found === null) return;
      taken.push(found.item);
    }
  };
  await takeAll();
  // The claims of the dead are recovered when their sessions have expired.
  await using zk = new ZooKeeper(place.servers);
  const claimsLeft = async (): Promise<number> => {
    await binding.recover(delivery);
    return (await zk.children(`${place.root}/queues/q/c`)).children.length;
  };
  await expect.poll(claimsLeft, { timeout: 30_000 }).toBe(0);
  await takeAll();
  await client.close();
  return taken;
}
