/**
 * A client of the binding beside one site, behind ways of its own to every server that can be cut.
 */
import { roundTripMs, SITES, type Site } from '../../../engines/wan.ts';
import type { Ensemble } from '../../../engines/zookeeper/ensemble.ts';
import {
  zookeeper,
  type ZooKeeperBinding,
  type ZooKeeperBindingOptions,
  type ZooKeeperLevels,
} from '../../../src/bindings/zookeeper/index.ts';
import { createClient, type Client, type Session } from '../../../src/index.ts';
import { CuttableRoute } from '../../engines/support/cuttable-route.ts';

export interface ShopOptions extends Omit<ZooKeeperBindingOptions, 'servers'> {
  readonly name: string;
  readonly site: Site;
}

export class Shop {
  readonly name: string;
  readonly routes: readonly CuttableRoute[];
  readonly binding: ZooKeeperBinding;
  readonly client: Client<ZooKeeperLevels>;
  /** In which this shop writes values, and mostly reads them. */
  readonly session: Session;
  #items = 0;

  private constructor(
    name: string,
    options: Omit<ZooKeeperBindingOptions, 'servers'>,
    routes: CuttableRoute[],
  ) {
    this.name = name;
    this.routes = routes;
    const servers = routes.map(({ address }) => address).join(',');
    this.binding = zookeeper({ ...options, servers });
    this.client = createClient(this.binding);
    this.session = this.client.session();
  }

  static async open(ensemble: Ensemble, { name, site, ...options }: ShopOptions): Promise<Shop> {
    const { wan } = ensemble.state.layout;
    const distanceMs = (to: Site): number => roundTripMs(wan, site, to);
    const nearestFirst = [...SITES].sort((a, b) => distanceMs(a) - distanceMs(b));
    const routes = nearestFirst.map((to) =>
      CuttableRoute.open(ensemble.address(to), distanceMs(to) / 2),
    );
    return new Shop(name, options, await Promise.all(routes));
  }

  /** A text that no other call has. */
  newItem(): string {
    this.#items += 1;
    return `${this.name}.${this.#items}`;
  }

  /** Nothing passes any more; a process that was killed looks like this to everybody else. */
  down(): void {
    for (const route of this.routes) route.down();
  }

  up(): void {
    for (const route of this.routes) route.up();
  }

  cut(): void {
    for (const route of this.routes) route.cut();
  }

  async close(): Promise<void> {
    await this.client.close();
    await Promise.all(this.routes.map((route) => route[Symbol.asyncDispose]()));
  }
}
