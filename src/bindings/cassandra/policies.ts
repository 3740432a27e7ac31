/** What the driver is told to decide: who coordinates, and what may be asked again. */
import { lookup } from 'node:dns/promises';
import type { CassandraDriver, DriverHost, DriverHosts } from './driver.ts';

const LOCAL = 0;
const REMOTE = 1;
const IGNORED = 2;
const RETHROW = 0;
const RETRY = 1;

type Done<T> = (error: Error | null, value?: T) => void;

/**
 * The listed nodes in their order, so that the first coordinates as long as it is up, and no other nodes: two reads of one
 * operation go through one coordinator, or the later one could be of an older state (Correctables, OSDI 2016, §5.2).
 */
export function coordinatorPolicy(driver: CassandraDriver, contactPoints: readonly string[]): object {
  const Base = driver.policies.loadBalancing.LoadBalancingPolicy as new () => object;
  return new (class CoordinatorPolicy extends Base {
    #order: readonly string[] = contactPoints;
    #hosts: DriverHosts | undefined;

    init(_client: unknown, hosts: DriverHosts, done: Done<undefined>): void {
      this.#hosts = hosts;
      void addressesOf(contactPoints).then((order) => {
        this.#order = order;
        const known = hosts.values().map(({ address }) => address);
        if (order.some((address) => known.includes(address))) return done(null);
        done(new Error(`contactPoints: none is the address of a node; the cluster has ${known.join(', ')}`));
      }, done);
    }

    /** Connections to the first are waited for at the start, those to the others are made beside it. */
    getDistance({ address }: DriverHost): number {
      if (address === this.#order[0]) return LOCAL;
      return this.#order.includes(address) ? REMOTE : IGNORED;
    }

    newQueryPlan(_keyspace: string, _options: unknown, done: Done<Iterator<DriverHost>>): void {
      const hosts = this.#hosts?.values() ?? [];
      const plan = this.#order.flatMap((address) => hosts.find((host) => host.address === address) ?? []);
      done(null, plan.values());
    }

    getOptions(): Map<string, object> {
      return new Map([['contactPoints', [...contactPoints]]]);
    }
  })();
}

/** The driver knows nodes by their numbers. */
async function addressesOf(contactPoints: readonly string[]): Promise<string[]> {
  const found = await Promise.allSettled(
    contactPoints.map(async (point) => {
      const [, host = point, port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(point) ?? [];
      const { address } = await lookup(host);
      return `${address}:${port}`;
    }),
  );
  return found.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

interface Decision {
  readonly decision: number;
  readonly consistency?: number | undefined;
  readonly useCurrentHost?: boolean;
}

interface Attempt {
  readonly nbRetry: number;
}

/**
 * Asks again only what may be repeated (the driver asks about others not at all), and never an operation that the
 * coordinator has refused for want of replicas: the caller hears of it at once and decides.
 */
export function retryPolicy(driver: CassandraDriver): object {
  const Base = driver.policies.retry.RetryPolicy;
  return new (class extends Base {
    onUnavailable(): Decision {
      return { decision: RETHROW };
    }

    onReadTimeout(
      { nbRetry }: Attempt,
      _consistency: number,
      received: number,
      blockFor: number,
      isDataPresent: boolean | number,
    ): Decision {
      // Enough replicas have answered, but the one with the data has not: another may be asked.
      const isWorthIt = nbRetry === 0 && received >= blockFor && !isDataPresent;
      return isWorthIt ? { decision: RETRY, useCurrentHost: true } : { decision: RETHROW };
    }

    onWriteTimeout(): Decision {
      return { decision: RETHROW };
    }

    /** The connection was lost, the node was silent or full: the next node of the list, if there is one. */
    onRequestError({ nbRetry }: Attempt): Decision {
      return nbRetry === 0 ? { decision: RETRY, useCurrentHost: false } : { decision: RETHROW };
    }
  })();
}

/** Nodes know each other by addresses that clients may not reach. */
export function addressTranslator(driver: CassandraDriver, translate: (address: string) => string): object {
  // Any class of the driver's will do to be taken for a translator; the base class is not in its types.
  const Base = driver.policies.addressResolution.EC2MultiRegionTranslator;
  return new (class extends Base {
    translate(address: string, port: number, done: (endpoint: string) => void): void {
      const translated = translate(address);
      done(/:\d+$/.test(translated) ? translated : `${translated}:${port}`);
    }
  })();
}
