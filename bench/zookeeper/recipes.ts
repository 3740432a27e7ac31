/** Ways to take from a queue on ZooKeeper, to be compared by what they send. */
import { createClient, type AnyClient } from 'correctables';
import { isZooKeeperError, ZooKeeper, zookeeper } from 'correctables/bindings/zookeeper';
import { dequeue, enqueue } from 'correctables/operations';
import { vanillaQueue } from '../../demo/tickets/stores/vanilla-queue.ts';

/** One consumer, or a producer, with sessions of its own. */
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
/** Items put at a time. */
const PUTS_MAX = 500;

export const RECIPES: readonly Recipe[] = [
  { name: 'vanilla', open: (servers, root) => openVanilla(servers, root) },
  { name: 'head pointer', open: (servers, root) => new HeadPointer(servers, root) },
  { name: OURS, open: (servers, root) => openClaims(servers, root) },
];

function openVanilla(servers: string, root: string): Taker {
  const zk = new ZooKeeper(servers);
  return clientTaker(createClient(vanillaQueue(zk, root)), () => zk.bytes.sent + zk.bytes.received);
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
 * Constant in the length, as the paper's client: a node holds the number of the first item; taking it moves the pointer on,
 * if nobody else has meanwhile.
 */
class HeadPointer implements Taker {
  readonly #zk: ZooKeeper;
  readonly #root: string;

  constructor(servers: string, root: string) {
    this.#zk = new ZooKeeper(servers);
    this.#root = root;
  }

  async put(count: number): Promise<void> {
    for (const [path, data] of [
      [this.#root, null],
      [`${this.#root}/items`, null],
      [`${this.#root}/head`, '0'],
    ] as const) {
      await this.#zk.create(path, data).catch((error: unknown) => {
        if (!isZooKeeperError(error, 'NODE_EXISTS')) throw error;
      });
    }
    await inPortions(count, () =>
      this.#zk.create(`${this.#root}/items/-`, JSON.stringify(ITEM), { mode: 'persistent-sequential' }),
    );
  }

  async take(): Promise<void> {
    for (;;) {
      const { data, stat } = await this.#zk.get(`${this.#root}/head`);
      const head = Number(new TextDecoder().decode(data ?? undefined));
      const item = `${this.#root}/items/-${String(head).padStart(10, '0')}`;
      try {
        await this.#zk.get(item);
        await this.#zk.multi([
          { type: 'set', path: `${this.#root}/head`, data: String(head + 1), version: stat.version },
          { type: 'delete', path: item },
        ]);
        return;
      } catch (error) {
        if (!isZooKeeperError(error, 'BAD_VERSION') && !isZooKeeperError(error, 'NO_NODE')) throw error;
      }
    }
  }

  bytes(): number {
    return this.#zk.bytes.sent + this.#zk.bytes.received;
  }

  close(): Promise<void> {
    return this.#zk.close();
  }
}

async function inPortions(count: number, put: () => PromiseLike<unknown>): Promise<void> {
  // The first alone: it makes what the others need.
  if (count > 0) await put();
  for (let done = 1; done < count; done += PUTS_MAX) {
    await Promise.all(Array.from({ length: Math.min(PUTS_MAX, count - done) }, () => put()));
  }
}
