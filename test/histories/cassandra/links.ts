/** The way from one client to each node, which can be cut for that client alone. */
import type { Cluster } from '../../../engines/cassandra/cluster.ts';
import type { Place } from '../../../engines/wan.ts';
import { CuttableRoute } from '../../engines/support/cuttable-route.ts';

export class Links implements AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #routes: ReadonlyMap<Place, CuttableRoute>;
  readonly #from: Place;

  private constructor(cluster: Cluster, from: Place, routes: ReadonlyMap<Place, CuttableRoute>) {
    this.#cluster = cluster;
    this.#from = from;
    this.#routes = routes;
  }

  /** The cluster's own proxies have the delays: these have none. */
  static async open(cluster: Cluster, from: Place): Promise<Links> {
    const routes = new Map<Place, CuttableRoute>();
    for (const at of cluster.sites)
      routes.set(at, await CuttableRoute.open(cluster.address(at, from), 0));
    return new Links(cluster, from, routes);
  }

  /** All nodes, the one of the client's site first. */
  get contactPoints(): string[] {
    const sites = [...this.#cluster.sites].sort(
      (a, b) => Number(b === this.#from) - Number(a === this.#from),
    );
    return sites.map((site) => this.#route(site).address);
  }

  /** Returns where the client reaches a node that the cluster announced. */
  translate(host: string): string {
    const node = this.#cluster.nodes.find(
      ({ address, peerAddress }) => address === host || peerAddress === host,
    );
    return node === undefined ? host : this.#route(node.site).address;
  }

  /** Cuts all connections; new ones are possible. */
  cut(): void {
    for (const route of this.#routes.values()) route.cut();
  }

  /** Cuts the connections to the client's coordinator, and refuses new ones. */
  down(): void {
    this.#route(this.#from).down();
  }

  up(): void {
    this.#route(this.#from).up();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#routes.values()].map((route) => route[Symbol.asyncDispose]()));
  }

  #route(site: Place): CuttableRoute {
    const route = this.#routes.get(site);
    if (route === undefined) throw new RangeError(`no way to ${site}`);
    return route;
  }
}
