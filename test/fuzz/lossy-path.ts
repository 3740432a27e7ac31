/** A bad network between clients and gateways: connections are cut, stall, fall silent or crumble, drawn from a seed. */
import { Random } from '../../src/server/collections/random.ts';
import { CutProxy } from '../support/cut-proxy.ts';

/** How long it is bad, and how long good, at most: now and then it is bad for longer than gateways remember who is gone. */
const BAD_MS = 150;
const VERY_BAD_MS = 1_500;
const GOOD_MS = 500;

export class LossyPath implements AsyncDisposable {
  /** The addresses through it. */
  readonly urls: readonly string[];
  readonly #proxies: readonly CutProxy[];
  readonly #seed: number;
  #isHealed = false;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(urls: readonly string[], proxies: readonly CutProxy[], seed: number) {
    this.urls = urls;
    this.#proxies = proxies;
    this.#seed = seed;
  }

  /** A path to each of the addresses, each bad for itself. */
  static async open(targets: readonly string[], seed: number): Promise<LossyPath> {
    const proxies = await Promise.all(targets.map((target) => CutProxy.start(target)));
    const urls = proxies.map((proxy, i) => proxy.url(targets[i] as string));
    return new LossyPath(urls, proxies, seed);
  }

  /** Does its worst until it is healed. */
  start(): void {
    this.#isHealed = false;
    this.#running = Promise.all(this.#proxies.map((proxy, i) => this.#spoil(proxy, new Random(this.#seed + i))));
  }

  /** From now on everything passes. */
  async heal(): Promise<void> {
    this.#isHealed = true;
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.heal();
    await Promise.all(this.#proxies.map((proxy) => proxy[Symbol.asyncDispose]()));
  }

  async #spoil(proxy: CutProxy, random: Random): Promise<void> {
    const wait = (maxDelayMs: number): Promise<void> => {
      return new Promise((resolve) => setTimeout(resolve, random.between(0, maxDelayMs)));
    };
    while (!this.#isHealed) {
      await wait(GOOD_MS);
      const badMs = random.chance(0.05) ? VERY_BAD_MS : BAD_MS;
      switch (random.between(0, 3)) {
        case 0:
          break;
        case 1:
          void proxy.swallow();
          break;
        case 2:
          void proxy.hold();
          await wait(badMs);
          proxy.release();
          break;
        default:
          proxy.crumble();
      }
      await wait(badMs);
      // Also where bytes were swallowed: what comes after them would make no sense.
      proxy.cut();
      proxy.pass();
    }
  }
}
