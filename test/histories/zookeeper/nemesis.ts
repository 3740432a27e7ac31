/** What is done to connections and servers while the shops work, and how it is made good. */
import { SITES, type Site } from '../../../engines/wan.ts';
import type { Ensemble } from '../../../engines/zookeeper/ensemble.ts';
import type { Random } from '../../../src/server/service/collections/random.ts';
import { pause } from '../pause.ts';
import { repeat } from '../repeat.ts';
import { QUEUE, times, type Scene } from './fixture.ts';
import type { Shop } from './binding-client.ts';

/** How often something happens to some connection, and to some server. */
const CONNECTIONS_EVERY_MS = [100, 500] as const;
const SERVERS_EVERY_MS = [1_500, 4_000] as const;
/** Longer than the sessions of rounds in which they expire. */
const OUTAGE_MS = [6_500, 8_000] as const;
const CONNECTED_MS = 1_000;

type Act = (shop: Shop) => Promise<void>;

/**
 * Cuts connections of the shops, of one session or all, once or twice; makes sessions move; lets
 * them expire.
 */
export class Connections {
  readonly #scene: Scene;
  readonly #random: Random;
  readonly #signal: AbortSignal;
  readonly #trades: Promise<unknown>[] = [];
  #outage: Promise<void> | undefined;

  constructor(scene: Scene, signal: AbortSignal) {
    this.#scene = scene;
    this.#random = scene.random();
    this.#signal = signal;
  }

  async disturb(): Promise<void> {
    const acts: [Act, ...Act[]] = [
      (shop) => this.#cutOne(shop),
      (shop) => this.#cutTwice(shop),
      (shop) => this.#move(shop),
      (shop) => this.#moveTwice(shop),
      (shop) => this.#flap(shop),
      (shop) => this.#flap(shop),
      () => this.#cutAll(),
    ];
    if (this.#scene.plan.delivery === undefined) acts.push((shop) => this.#outageOf(shop));
    await repeat(CONNECTIONS_EVERY_MS, { random: this.#random, signal: this.#signal }, () =>
      this.#random.pick(acts)(this.#random.pick(this.#scene.shops as [Shop, ...Shop[]])),
    );
    await this.#outage;
    for (const shop of this.#scene.shops) shop.up();
    await Promise.all(this.#trades);
  }

  async #cutOne({ routes }: Shop): Promise<void> {
    const used = routes.filter(({ connections }) => connections > 0);
    const route = used[this.#random.between(0, Math.max(0, used.length - 1))];
    route?.cutOne(this.#random.between(0, route.connections - 1));
    this.#scene.injected.add('cuts of one connection');
  }

  async #cutAll(): Promise<void> {
    for (const shop of this.#scene.shops) shop.cut();
    this.#scene.injected.add('cuts of all connections');
  }

  /** The second time, the session has sent little over its new connection. */
  async #cutTwice(shop: Shop): Promise<void> {
    shop.cut();
    await pause(this.#random.between(20, 400), this.#signal);
    shop.cut();
    this.#scene.injected.add('cuts of a shop, twice');
  }

  /** The way to the server that a shop is at fails for a while. */
  async #move({ routes }: Shop): Promise<void> {
    const used = routes.filter(({ connections }) => connections > 0);
    for (const route of used) route.down();
    this.#scene.injected.add('moves');
    await pause(this.#random.between(100, 700), this.#signal);
    for (const route of used) route.up();
  }

  async #moveTwice(shop: Shop): Promise<void> {
    await this.#move(shop);
    await pause(this.#random.between(0, 60), this.#signal);
    await this.#move(shop);
  }

  /**
   * Lost, and lost again just after requests have gone out over the new connection: what is being
   * agreed on then was sent over one, and those of the next are waited for at another server.
   */
  async #flap(shop: Shop): Promise<void> {
    shop.cut();
    this.#trade(shop);
    // It learns of the loss.
    await pause(2);
    await Promise.race([shop.binding.whenConnected(), pause(CONNECTED_MS, this.#signal)]);
    await pause(this.#random.between(5, 60), this.#signal);
    const used = shop.routes.filter(({ connections }) => connections > 0);
    for (const route of used) route.down();
    this.#trade(shop);
    this.#scene.injected.add('losses, twice');
    await pause(this.#random.between(100, 300), this.#signal);
    for (const route of used) route.up();
  }

  /** All kinds of updates at once; they go out with the next connection. */
  #trade(shop: Shop): void {
    const queue = this.#random.pick([QUEUE.sale, QUEUE.weakly]);
    const calls = [
      () => this.#scene.dequeue(shop, queue),
      () => this.#scene.enqueue(shop, queue),
    ] as const;
    const trade = (): Promise<unknown> => this.#random.pick(calls)();
    this.#trades.push(times(this.#random.between(2, 8), trade));
  }

  /** Goes on beside what happens to others. */
  async #outageOf(shop: Shop): Promise<void> {
    if (this.#outage !== undefined) return this.#cutAll();
    const run = async (): Promise<void> => {
      const endsAtMs = performance.now() + this.#random.between(...OUTAGE_MS);
      this.#scene.injected.add('outages');
      // Others' moves put ways up again.
      while (performance.now() < endsAtMs && !this.#signal.aborted) {
        shop.down();
        await pause(50, this.#signal);
      }
      shop.up();
      this.#outage = undefined;
    };
    this.#outage = run();
  }
}

/** Freezes servers, and kills them and starts them again: one at a time. */
export async function disturbServers(scene: Scene, signal: AbortSignal): Promise<void> {
  const { ensemble, injected, progress } = scene;
  const random = scene.random();
  await repeat(SERVERS_EVERY_MS, { random, signal }, async () => {
    const [site, isKill, ms] = [random.pick(SITES), random.chance(0.3), random.between(200, 2_500)];
    if (deadServers(ensemble).length > 0) return;
    if (isKill) {
      ensemble.signal(site, 'SIGKILL');
      injected.add('servers killed');
      await pause(ms / 2);
      // Who does not come back is seen at the end of the round.
      await ensemble.restart(site).catch((error: unknown) => progress(String(error)));
    } else {
      ensemble.signal(site, 'SIGSTOP');
      injected.add('servers frozen');
      await pause(ms);
      ensemble.signal(site, 'SIGCONT');
    }
  });
}

/** The servers that do not run. */
export function deadServers(ensemble: Ensemble): Site[] {
  return ensemble.sites.filter((site) => !ensemble.isRunning(site));
}
