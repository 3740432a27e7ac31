/** The policies of the driver: which node coordinates, and which requests are retried. */
import { lookup } from 'node:dns/promises';
import { formatAddress, type ServerAddress } from '../shared/server-address.ts';
import type { CassandraDriver, DriverExecutionOptions, DriverHost, DriverHosts } from './driver.ts';
import type { Execution } from './execution.ts';
import type { NodeHealth } from './node-health.ts';

const LOCAL = 0;
const REMOTE = 1;
const IGNORED = 2;
const RETHROW = 0;
const RETRY = 1;

type PolicyCallback<T> = (error: Error | null, value?: T) => void;

export type HostLookup = (host: string) => Promise<{ readonly address: string }>;

/** A policy of the driver that selects the nodes of each request. */
export interface CoordinatorPolicy {
  /**
   * Whether a node may take requests, as far as the driver knows. `true` until the driver has
   * begun.
   */
  readonly hasNode: boolean;
  /**
   * Returns the nodes that may take requests, in the order of preference: `preferred` first, if it
   * may.
   */
  listNodes(preferred?: string): readonly DriverHost[];
  /** Returns a policy that selects the same nodes, but `address` first. */
  prefer(address: string): object;
  findHost(address: string): DriverHost | undefined;
}

/** Minimum interval between two lookups of nodes that could not be found. */
const HOST_LOOKUP_INTERVAL_MS = 5_000;

interface CoordinatorOptions {
  readonly health?: Pick<NodeHealth, 'isSilent'>;
  readonly lookUp?: HostLookup;
}

/**
 * Finds the nodes of a list of contact points. The driver knows nodes by their addresses. A name
 * without an address of a node is looked up again, because a node that comes back at another
 * address keeps its name.
 */
class ContactNodes {
  readonly #contactPoints: readonly ServerAddress[];
  readonly #options: CoordinatorOptions;
  #addresses: readonly (string | undefined)[];
  #hosts: DriverHosts | undefined;
  #looking: Promise<void> | undefined;
  #lookAgainAt = 0;

  constructor(contactPoints: readonly ServerAddress[], options: CoordinatorOptions) {
    this.#contactPoints = contactPoints;
    this.#options = options;
    this.#addresses = contactPoints.map(formatAddress);
  }

  /** The driver has connected to the cluster, which has these nodes. */
  begin(hosts: DriverHosts): Promise<void> {
    this.#hosts = hosts;
    this.#addresses = this.#contactPoints.map(() => undefined);
    return this.#lookUp();
  }

  get hasBegun(): boolean {
    return this.#hosts !== undefined;
  }

  /** Returns the nodes that were found, in the order of the list. Silent ones come last. */
  list(): DriverHost[] {
    const hosts = this.#hosts?.values() ?? [];
    const found = this.#addresses.flatMap(
      (address) => hosts.find((host) => host.address === address) ?? [],
    );
    const silent = found.filter(({ address }) => this.#options.health?.isSilent(address));
    return silent.length === 0
      ? found
      : [...found.filter((host) => !silent.includes(host)), ...silent];
  }

  /**
   * Begins to look up missing nodes, if that was not tried just now. Waits for it only if there is
   * no node at all.
   */
  lookUpMissing(found: readonly DriverHost[]): Promise<void> | undefined {
    const isOneMissing = found.length < this.#contactPoints.length;
    if (isOneMissing && performance.now() >= this.#lookAgainAt) void this.#lookUp();
    return found.length > 0 ? undefined : this.#looking;
  }

  /** Returns whether this is the first node of the list that has an address. */
  isFirst(address: string): boolean {
    return this.#addresses.find((item) => item !== undefined) === address;
  }

  isListed(address: string): boolean {
    return this.#addresses.includes(address);
  }

  /** Looks up the addresses of names that belong to no known node. */
  #lookUp(): Promise<void> {
    this.#lookAgainAt = performance.now() + HOST_LOOKUP_INTERVAL_MS;
    this.#looking ??= this.#resolve().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #resolve(): Promise<void> {
    const { lookUp = (host) => lookup(host) } = this.#options;
    const isNode = (address: string | undefined): boolean =>
      this.#hosts?.values().some((host) => host.address === address) === true;
    const found = this.#contactPoints.map(async ({ host, port }, at) => {
      const address = this.#addresses[at];
      if (isNode(address)) return address;
      // If a name cannot be resolved now, keep its former address.
      return lookUp(host).then(
        (found) => `${found.address}:${port}`,
        () => address,
      );
    });
    this.#addresses = await Promise.all(found);
  }
}

/**
 * Selects the listed nodes in their order, and no other nodes. So the first one coordinates as long
 * as it is up. Both reads of one operation must use one coordinator, or the later one could return
 * an older state (Correctables, OSDI 2016, §5.2).
 */
export function createCoordinatorPolicy(
  driver: CassandraDriver,
  contactPoints: readonly ServerAddress[],
  options: CoordinatorOptions = {},
): CoordinatorPolicy {
  const Base = driver.policies.loadBalancing.LoadBalancingPolicy as new () => object;
  const nodes = new ContactNodes(contactPoints, options);
  return new (class CoordinatorPolicy extends Base {
    init(_client: unknown, hosts: DriverHosts, done: PolicyCallback<undefined>): void {
      void nodes.begin(hosts).then(() => {
        if (nodes.list().length > 0) return done(null);
        const known = hosts.values().map(({ address }) => address);
        done(
          new Error(
            `contactPoints: none is the address of a node; the cluster has ${known.join(', ')}`,
          ),
        );
      }, done);
    }

    /**
     * The start waits only for the connections to the first node. Connections to the other nodes
     * are opened concurrently.
     */
    getDistance({ address }: DriverHost): number {
      if (!nodes.isListed(address)) return IGNORED;
      return nodes.isFirst(address) ? LOCAL : REMOTE;
    }

    get hasNode(): boolean {
      return !nodes.hasBegun || this.listNodes().length > 0;
    }

    listNodes(preferred?: string): readonly DriverHost[] {
      const connected = nodes.list().filter((host) => host.getActiveConnection?.() !== null);
      const isFirst = ({ address }: DriverHost): boolean => address === preferred;
      return [...connected.filter(isFirst), ...connected.filter((host) => !isFirst(host))];
    }

    prefer(address: string): object {
      return {
        newQueryPlan: (
          keyspace: string,
          options: DriverExecutionOptions | null,
          done: PolicyCallback<Iterator<DriverHost>>,
        ): void => this.newQueryPlan(keyspace, options, done, address),
      };
    }

    findHost(address: string): DriverHost | undefined {
      return nodes.list().find((host) => host.address === address);
    }

    newQueryPlan(
      _keyspace: string,
      options: DriverExecutionOptions | null,
      done: PolicyCallback<Iterator<DriverHost>>,
      preferred?: string,
    ): void {
      const execution = getExecution(options);
      // To prepare a statement, the driver does not go on to the next node if one has no
      // connection.
      const finish = (plan: readonly DriverHost[]): void => {
        const connected = this.listNodes(preferred);
        const hosts = connected.length > 0 ? connected : plan;
        done(null, follow(hosts, execution));
      };
      const plan = nodes.list();
      const found = nodes.lookUpMissing(plan);
      if (found === undefined) finish(plan);
      else void found.then(() => finish(nodes.list()));
    }

    getOptions(): Map<string, object> {
      return new Map([['contactPoints', contactPoints.map(formatAddress)]]);
    }
  })();
}

/** Returns the execution whose retry policy the driver has in its options. */
function getExecution(options: DriverExecutionOptions | null): Execution | undefined {
  const policy: Partial<ExecutionRetryPolicy> | undefined = options?.getRetryPolicy?.();
  return policy?.execution;
}

/** Notes at which node an execution is, when the driver turns to the node. */
function* follow(
  plan: readonly DriverHost[],
  execution: Execution | undefined,
): Generator<DriverHost> {
  if (execution?.canSend() === false) return;
  for (const host of plan) {
    execution?.moveTo(host.address);
    yield host;
  }
}

interface RetryDecision {
  readonly decision: number;
  readonly consistency?: number | undefined;
  readonly useCurrentHost?: boolean;
}

interface RetryAttempt {
  readonly nbRetry: number;
}

/** A retry policy of the driver, for all executions or for one. */
export interface ExecutionRetryPolicy {
  readonly execution: Execution | undefined;
}

export type RetryPolicyClass = new (execution?: Execution) => ExecutionRetryPolicy;

/**
 * Retries only idempotent requests. A request that failed for lack of replicas is not retried,
 * because its caller decides.
 */
export function createRetryPolicyClass(driver: CassandraDriver): RetryPolicyClass {
  const Base = driver.policies.retry.RetryPolicy;
  return class extends Base {
    readonly execution: Execution | undefined;

    constructor(execution?: Execution) {
      super();
      this.execution = execution;
    }

    onUnavailable(): RetryDecision {
      return { decision: RETHROW };
    }

    onReadTimeout(
      { nbRetry }: RetryAttempt,
      _consistency: number,
      received: number,
      blockFor: number,
      isDataPresent: boolean | number,
    ): RetryDecision {
      // Retry if enough replicas have answered, but not the one that was to send the data: another
      // one may have the data. An update with `IF` reads too.
      const isWorthIt =
        this.execution?.isWrite !== true && nbRetry === 0 && received >= blockFor && !isDataPresent;
      return isWorthIt ? { decision: RETRY, useCurrentHost: true } : { decision: RETHROW };
    }

    onWriteTimeout(): RetryDecision {
      return { decision: RETHROW };
    }

    /**
     * The connection was lost, or the node was silent or overloaded. The next node of the list is
     * tried once, if there is one. If that node does not know the statement, the execution
     * continues there with another attempt.
     */
    onRequestError({ nbRetry }: RetryAttempt, _consistency: number, error: Error): RetryDecision {
      if (nbRetry > 0 || this.execution?.isRepeated === true) return { decision: RETHROW };
      this.execution?.recordRepeat(error);
      return { decision: RETRY, useCurrentHost: false };
    }
  };
}

/** Matches an address with a port. An IPv6 address without a port contains colons too. */
const ENDPOINT_PATTERN = /^(\[.*\]|[^:]*):\d+$/;

/**
 * Translates addresses. Nodes know each other by addresses that clients may not reach, and do not
 * report their client ports.
 */
export function createAddressTranslator(
  driver: CassandraDriver,
  contactPoints: readonly ServerAddress[],
  translate: (address: string) => string = (address) => address,
): object {
  const ports = new Map(contactPoints.map(({ host, port }) => [host, port]));
  // Any translator class of the driver can be the base class. The driver's types lack the abstract
  // one.
  const Base = driver.policies.addressResolution.EC2MultiRegionTranslator;
  return new (class extends Base {
    translate(address: string, port: number, done: (endpoint: string) => void): void {
      const translated = translate(address);
      done(
        ENDPOINT_PATTERN.test(translated)
          ? translated
          : `${translated}:${ports.get(translated) ?? port}`,
      );
    }
  })();
}
