/** A shop on the tests' own servers, and what can be seen of it there. */
import { createClient, isCorrectableError, type Client } from '../../../../src/index.ts';
import { OP } from '../../../../src/bindings/zookeeper/client/requests.ts';
import {
  ZooKeeper,
  zookeeper,
  type ZooKeeperBinding,
  type ZooKeeperBindingOptions,
  type ZooKeeperLevels,
} from '../../../../src/bindings/zookeeper/index.ts';
import { dequeue, enqueue } from '../../../../src/operations/index.ts';
import { expect } from 'vitest';
import { FakeEnsemble } from '../../../support/zookeeper-server/ensemble.ts';
import type { FakeServer, Seen } from '../../../support/zookeeper-server/server.ts';

export const QUEUE = 'concert';
export const ITEMS = `/correctables/queues/${QUEUE}/i`;
export const CLAIMS = `/correctables/queues/${QUEUE}/c`;

export interface Shop extends AsyncDisposable {
  readonly binding: ZooKeeperBinding;
  readonly client: Client<ZooKeeperLevels>;
}

/** Opens a binding. The servers are the ensemble's unless given. */
export function open(ensemble: FakeEnsemble, options: Partial<ZooKeeperBindingOptions> = {}): Shop {
  const binding = zookeeper({ servers: ensemble.connectString, ...options });
  const client = createClient(binding);
  return { binding, client, [Symbol.asyncDispose]: () => client.close() };
}

/** Puts `T0`, `T1`… into the queue. */
export async function stock({ client }: Shop, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await client.invokeStrong(enqueue(QUEUE, `T${n}`));
}

/** What a dequeue brings: the item, `null`, or the code of its failure. */
export async function sale({ client }: Shop): Promise<unknown> {
  return outcomeOf(
    client.invokeStrong(dequeue<string>(QUEUE)).then((found) => found?.item ?? null),
  );
}

export function outcomeOf(operation: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(operation).catch((error: unknown) => {
    if (!isCorrectableError(error)) throw error;
    return error.retryable ? `${error.code}, retryable` : error.code;
  });
}

/** All that is left, by one who asks until there is nothing. */
export async function drain(shop: Shop): Promise<unknown[]> {
  const items: unknown[] = [];
  for (;;) {
    const item = await sale(shop);
    if (item === null) return items;
    items.push(item);
  }
}

/** The session that updates: the one that has made nodes first. */
export function findLastWriter(ensemble: FakeEnsemble): bigint {
  const session = ensemble.server.requests.find(({ type }) => type === OP.create)?.session;
  if (session === undefined) throw new Error('nothing has been made yet');
  return session;
}

/**
 * Resolves once so many requests of a kind are in a server's list, which a test empties where it
 * begins to count.
 */
export async function come(
  server: FakeServer,
  count: number,
  isOne: (seen: Seen) => boolean,
): Promise<void> {
  await expect.poll(() => server.requests.filter(isOne).length).toBeGreaterThanOrEqual(count);
}

/**
 * Cuts a server off from its clients, and resolves once the reader and the writer of a binding have
 * noticed.
 */
export async function cutOff(server: FakeServer): Promise<void> {
  const before = server.refusals;
  server.connectionsMax = 0;
  server.cut();
  await expect.poll(() => server.refusals).toBeGreaterThanOrEqual(before + 2);
}

/** Resolves once a server has done all that was sent to the leader through it before. */
export async function caughtUp(server: FakeServer): Promise<void> {
  await using zk = new ZooKeeper(server.address);
  await zk.sync();
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Stops an ensemble, and starts an empty one at the same addresses. */
export async function createAgain(ensemble: FakeEnsemble): Promise<FakeEnsemble> {
  const ports = ensemble.servers.map(({ address }) => Number(address.split(':')[1]));
  await ensemble.stop();
  const next = new FakeEnsemble();
  for (const port of ports) await next.add({ port });
  return next;
}
