/**
 * What happens now and then: a rush on a new queue, clients that close or die at work, a queue that
 * is deleted.
 */
import { SITES } from '../../../engines/wan.ts';
import {
  isZooKeeperError,
  ZooKeeper,
  type MultiPart,
} from '../../../src/bindings/zookeeper/index.ts';
import type { Random } from '../../../src/server/service/collections/random.ts';
import { pause } from '../pause.ts';
import { QUEUE, RUSH, times, type Scene } from './fixture.ts';
import { Shop } from './binding-client.ts';

/** The session of a client that will die: the sooner it expires, the sooner the janitor may act. */
const MORTAL_SESSION_MS = 4_000;
const SETTLED_MS = 3_000;
const CLOSING_WINDOW = 3;
/** A deletion that met others' calls so often is left alone. */
const DELETIONS_MAX = 50;

/** Plays each kind of episode, with draws of its own, and knows how many there were. */
export class Episodes {
  readonly #scene: Scene;
  #rushes = 0;
  #closings = 0;
  #deaths = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /**
   * An unused queue is stocked at once, sold out by all at once, restocked meanwhile, and sold out
   * again.
   */
  async rush(random: Random): Promise<void> {
    const scene = this.#scene;
    this.#rushes += 1;
    const queue = `${RUSH}-${this.#rushes}`;
    scene.injected.add('sell-outs');
    const stock = (): Promise<unknown> => {
      const shop = this.#anyShop(random);
      return times(random.between(6, 12), () => scene.enqueue(shop, queue));
    };
    const sellOut = (): Promise<unknown> =>
      Promise.all(
        scene.shops.map((shop) => times(random.between(5, 15), () => scene.dequeue(shop, queue))),
      );
    await stock();
    await Promise.all([sellOut(), pause(random.between(0, 200)).then(stock)]);
    await stock();
    await sellOut();
  }

  /** A shop closes while its customers wait. */
  async closing(random: Random): Promise<void> {
    const scene = this.#scene;
    this.#closings += 1;
    const [stocker, site] = [this.#anyShop(random), random.pick(SITES)];
    const [waitMs, maxInFlight] = [random.between(0, 250), CLOSING_WINDOW];
    await times(12, () => scene.enqueue(stocker, QUEUE.closing));
    const shop = await this.#open(`closing-${this.#closings}`, {
      site,
      maxInFlight,
      sessionTimeoutMs: 15_000,
    });
    const sales = times(20, () => scene.dequeue(shop, QUEUE.closing));
    await pause(waitMs);
    scene.injected.add('closings');
    await shop.close();
    await sales;
  }

  /**
   * Two shops die at once while they take more than there is, so that some of their claims are
   * late. Their outcomes until then count.
   */
  async death(random: Random): Promise<void> {
    const scene = this.#scene;
    this.#deaths += 1;
    const [stocker, stock, lifeMs] = [
      this.#anyShop(random),
      random.between(2, 6),
      random.between(10, 250),
    ];
    const shops = await Promise.all(
      ['a', 'b'].map((which) => {
        const site = random.pick(SITES);
        return this.#open(`mortal-${this.#deaths}${which}`, {
          site,
          sessionTimeoutMs: MORTAL_SESSION_MS,
        });
      }),
    );
    // Once it has taken something it is known to be alive, and takes the next at once.
    const first = Promise.all(shops.map((shop) => scene.dequeue(shop, QUEUE.mortal)));
    await Promise.race([pause(SETTLED_MS), first]);
    await times(stock, () => scene.enqueue(stocker, QUEUE.mortal));
    const taking = shops.map((shop) => times(stock, () => scene.dequeue(shop, QUEUE.mortal)));
    await pause(lifeMs);
    for (const shop of shops) shop.down();
    scene.injected.add('deaths', shops.length);
    await Promise.all(shops.map((shop) => shop.close()));
    await Promise.all([first, ...taking]);
  }

  /**
   * The queue is deleted, sometimes while others use it, and created again by the shop that stocks
   * it next.
   */
  async deletion(random: Random): Promise<void> {
    const scene = this.#scene;
    const isQuiet = random.chance(0.5);
    if (isQuiet) await scene.again.shut();
    try {
      await using zk = new ZooKeeper(scene.ensemble.connectString('ireland'));
      const base = `${scene.root}/queues/${QUEUE.again}`;
      await scene.note('delete queue', QUEUE.again, () => deleteQueue(zk, base));
      scene.injected.add(isQuiet ? 'deletions' : 'deletions in flight');
    } finally {
      scene.again.open();
    }
  }

  #anyShop(random: Random): Shop {
    return random.pick(this.#scene.shops as [Shop, ...Shop[]]);
  }

  #open(
    name: string,
    options: Omit<Parameters<typeof Shop.open>[1], 'name' | 'root'>,
  ): Promise<Shop> {
    const { ensemble, root, progress } = this.#scene;
    const onBackgroundError = (error: unknown): void =>
      progress(`${name}, beside: ${String(error)}`);
    return Shop.open(ensemble, { ...options, name, root, onBackgroundError });
  }
}

/** In one transaction, so that no client sees half a queue. */
async function deleteQueue(zk: ZooKeeper, base: string): Promise<void> {
  for (let attempt = 1; attempt <= DELETIONS_MAX; attempt += 1) {
    try {
      const folders = [`${base}/i`, `${base}/c`];
      const children = await Promise.all(
        folders.map(async (path) =>
          (await zk.children(path)).children.map((name) => `${path}/${name}`),
        ),
      );
      const paths = [...children.flat(), ...folders, base];
      await zk.multi(paths.map((path): MultiPart => ({ type: 'delete', path })));
      return;
    } catch (error) {
      // It does not exist yet, another session was faster, or the connection was lost: delete it
      // again.
      if (!isZooKeeperError(error)) throw error;
      await pause(20);
    }
  }
}
