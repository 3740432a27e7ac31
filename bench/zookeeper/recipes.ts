/** Ways to take items from a queue on ZooKeeper, whose sent bytes are compared. */
import { createClient, type AnyClient } from 'correctables';
import { isZooKeeperError, zookeeper } from 'correctables/bindings/zookeeper';
import { dequeue, enqueue } from 'correctables/operations';
import { vanillaQueue } from '../../demo/tickets/stores/vanilla-queue.ts';
import { SessionPair } from './session-pair.ts';

/** One consumer, or a producer, with its own two sessions. */
export interface Taker {
  put(count: number): Promise<void>;
  /** Takes one item. */
  take(): Promise<void>;
  /** Payload bytes exchanged so far. */
  bytes(): number;
  close(): Promise<void>;
}

export interface Recipe {
  readonly name: string;
  readonly open: (servers: string, root: string) => Taker;
}

/** The recipe of this project. */
export const OURS = 'claim tickets';
const ITEM = 'ticket-0000000001';
const QUEUE = 'queue';
/** The maximum number of items that are added concurrently. */
const PUTS_MAX = 500;

export const RECIPES: readonly Recipe[] = [
  { name: 'vanilla', open: (servers, root) => openVanilla(servers, root) },
  { name: 'head pointer', open: (servers, root) => new HeadPointer(servers, root) },
  { name: OURS, open: (servers, root) => openClaims(servers, root) },
];

function openVanilla(servers: string, root: string): Taker {
  const sessions = new SessionPair(servers);
  return clientTaker(createClient(vanillaQueue(sessions, root)), () => sessions.bytes);
}

function openClaims(servers: string, root: string): Taker {
  const binding = zookeeper({ servers, root });
  return clientTaker(createClient(binding), () => binding.bytes.sent + binding.bytes.received);
}

function clientTaker(client: AnyClient, bytes: () => number): Taker {
  return {
    put: (count) => inPortions(count, () => client.invokeStrong(enqueue(QUEUE, ITEM))),
    async take() {
      if ((await client.invoke(dequeue(QUEUE))) === null) throw new Error('the queue is empty');
    },
    bytes,
    close: () => client.close(),
  };
}

/**
 * The paper's client, whose cost does not depend on the length of the queue. A node contains the
 * number of the first item. A take increments it, unless another client has done so meanwhile.
 */
class HeadPointer implements Taker {
  readonly #sessions: SessionPair;
  readonly #root: string;

  constructor(servers: string, root: string) {
    this.#sessions = new SessionPair(servers);
    this.#root = root;
  }

  async put(count: number): Promise<void> {
    for (const [path, data] of [
      [this.#root, null],
      [`${this.#root}/items`, null],
      [`${this.#root}/head`, '0'],
    ] as const) {
      await this.#sessions.create(path, data).catch((error: unknown) => {
        if (!isZooKeeperError(error, 'NODE_EXISTS')) throw error;
      });
    }
    await inPortions(count, () =>
      this.#sessions.create(`${this.#root}/items/-`, JSON.stringify(ITEM), {
        mode: 'persistent-sequential',
      }),
    );
  }

  async take(): Promise<void> {
    const { reader, writer } = this.#sessions;
    for (;;) {
      const { data, stat } = await reader.get(`${this.#root}/head`);
      const head = Number(new TextDecoder().decode(data ?? undefined));
      const item = `${this.#root}/items/-${String(head).padStart(10, '0')}`;
      try {
        await reader.get(item);
        await writer.multi([
          {
            type: 'set',
            path: `${this.#root}/head`,
            data: String(head + 1),
            version: stat.version,
          },
          { type: 'delete', path: item },
        ]);
        return;
      } catch (error) {
        if (!isZooKeeperError(error, 'BAD_VERSION') && !isZooKeeperError(error, 'NO_NODE'))
          throw error;
      }
    }
  }

  bytes(): number {
    return this.#sessions.bytes;
  }

  close(): Promise<void> {
    return this.#sessions.close();
  }
}

async function inPortions(count: number, put: () => PromiseLike<unknown>): Promise<void> {
  // Add the first item alone, because it creates the nodes that the others need.
  if (count > 0) await put();
  for (let done = 1; done < count; done += PUTS_MAX) {
    await Promise.all(Array.from({ length: Math.min(PUTS_MAX, count - done) }, () => put()));
  }
}
