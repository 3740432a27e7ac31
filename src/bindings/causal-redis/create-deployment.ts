/** Prepares the Redis of a site for a deployment. */
import { DEFAULT_LIMITS } from '../../causal/limits.ts';
import {
  isRefusal,
  type CallName,
  type PartitionAddress,
  type PartitionCalls,
  type PartitionPort,
} from '../../causal/partition-calls.ts';
import { createZeroVector } from '../../causal/stamps.ts';
import { systemClock } from '../../correctable/clock.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import {
  checkRecord,
  checkSameDeployment,
  RECORD_FORMAT,
  type DeploymentRecord,
} from './deployment-record.ts';
import type { Keyspace } from './keyspace.ts';
import {
  resolveDeploymentOptions,
  type CausalDeploymentOptions,
  type ResolvedDeployment,
} from './options.ts';
import { openRedisStores } from './redis-stores.ts';
import { limitReplies } from './reply-limits.ts';
import type { SiteStores } from './site-stores.ts';
import { getErrorMessage } from '../../values/error-message.ts';

/** The result of `createCausalDeployment`. */
export interface CausalDeployment {
  readonly name: string;
  readonly site: string;
  /** The sites in the order that all processes use. */
  readonly sites: readonly string[];
  readonly partitions: number;
  /** Whether this call wrote the deployment record of the site. */
  readonly isCreated: boolean;
  /**
   * The number of partitions that have data at other sites and none here. They are copied from
   * there before clients can use them.
   */
  readonly restoredPartitions: number;
}

const DEFAULT_PARTITIONS = 256;

/**
 * Prepares the Redis of `site` for a deployment. Call it once for each site, before the first
 * `causalRedis`. A repeated call changes nothing. All sites must be reachable.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not
 *   fit, also if it differs from the existing deployment; `UNAVAILABLE` if the Redis of a
 *   site cannot be reached, or gives no reply within 4 s
 * @example
 * const sites = { dublin: { nodes: ['10.0.0.1:6379'] }, oregon: { nodes: ['10.1.0.1:6379'] } };
 * for (const site of ['dublin', 'oregon'] as const)
 *   await createCausalDeployment({ name: 'shop', site, sites });
 */
export async function createCausalDeployment<const N extends string>(
  options: CausalDeploymentOptions<N>,
): Promise<CausalDeployment> {
  const resolved = resolveDeploymentOptions(options);
  const stores = limitReplies(await openRedisStores(resolved), systemClock);
  try {
    return await prepareDeployment(resolved, stores);
  } finally {
    stores.close();
  }
}

/** Does the work of `createCausalDeployment` with stores that are open already. */
export async function prepareDeployment(
  options: ResolvedDeployment & { readonly partitions: number | undefined },
  stores: SiteStores,
): Promise<CausalDeployment> {
  const { name, site, sources, partitions } = options;
  const records = await readRecords(options, stores);
  const known = records.get(site) ?? [...records.values()][0];
  const wanted: DeploymentRecord = {
    format: RECORD_FORMAT,
    name,
    site,
    sites: known?.sites ?? [...sources.keys()].toSorted(),
    partitions: known?.partitions ?? partitions ?? DEFAULT_PARTITIONS,
  };
  for (const other of records.values()) checkSameDeployment(wanted, other);
  if (partitions !== undefined && partitions !== wanted.partitions) {
    const message = `partitions: the deployment "${name}" has ${wanted.partitions}, got ${partitions}. The number cannot be changed.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'partitions',
    });
  }

  const isCreated = !records.has(site);
  const port = stores.createPort({
    sites: wanted.sites,
    limits: DEFAULT_LIMITS,
    getSiteView: (_, onReply) => onReply({ refused: 'UNREACHABLE' }),
  });
  // Mark lost partitions before the record is written: while there is no record, no gateway serves
  // them.
  const restoredPartitions = isCreated ? await suspectLostPartitions(wanted, port) : 0;
  const keyspace = stores.keyspaces.get(site) as Keyspace;
  const written = await keyspace.createRecord(wanted);
  checkSameDeployment(wanted, written);
  // Another process may have prepared another site at the same time, with other options.
  const after = await readRecords(options, stores);
  for (const other of after.values()) checkSameDeployment(written, other);
  return {
    name,
    site,
    sites: wanted.sites,
    partitions: wanted.partitions,
    isCreated,
    restoredPartitions,
  };
}

async function readRecords(
  { name, sources }: ResolvedDeployment,
  stores: SiteStores,
): Promise<ReadonlyMap<string, DeploymentRecord>> {
  const records = new Map<string, DeploymentRecord>();
  for (const [site, keyspace] of stores.keyspaces) {
    const record = await keyspace.readRecord().catch((cause: unknown) => {
      const message = `sites.${site}: its Redis cannot be reached: ${describe(cause)}. Nothing was changed.`;
      throw new CorrectableError('UNAVAILABLE', message, {
        cause,
        field: `sites.${site}`,
      });
    });
    if (record === undefined) continue;
    checkRecord(record, { name, site, sites: [...sources.keys()] });
    records.set(site, record);
  }
  return records;
}

/**
 * Marks partitions that are empty although another site has writes that were made in them here.
 * This Redis has lost their data, so a gateway copies them before it serves them (CAUSAL-13,
 * CAUSAL-14).
 */
async function suspectLostPartitions(
  { site, sites, partitions }: DeploymentRecord,
  port: PartitionPort,
): Promise<number> {
  const own = sites.indexOf(site);
  const others = sites.flatMap((_, index) => (index === own ? [] : [index]));
  // Send zero as the time, so that the call does not confirm that all writes are there (CAUSAL-10).
  const request = {
    siteTime: 0,
    siteClock: 0,
    lastSeen: 0,
    stable: createZeroVector(sites.length),
  };
  const isLost = async (partition: number): Promise<boolean> => {
    const state = await call(port, { site: own, partition }, 'state', request);
    const known = await Promise.all(
      others.map(async (other) => {
        const address = { site: other, partition };
        const reply = await call(port, address, 'state', request);
        return reply.lastOwnStamp > 0 || (reply.cursors[own]?.entry ?? 0) > 0;
      }),
    );
    const isEmpty = state.lastOwnStamp === 0 && state.cursors.every(({ entry }) => entry === 0);
    // Another site may have noticed the loss already.
    const isSuspect = state.suspicions > state.healedSuspicions;
    return isEmpty && (isSuspect || known.includes(true));
  };
  let count = 0;
  for (let partition = 0; partition < partitions; partition += 1) {
    if (!(await isLost(partition))) continue;
    await call(port, { site: own, partition }, 'suspect', {});
    count += 1;
  }
  return count;
}

function call<N extends CallName>(
  port: PartitionPort,
  address: PartitionAddress,
  name: N,
  request: PartitionCalls[N]['request'],
): Promise<PartitionCalls[N]['reply']> {
  return new Promise((resolve, reject) => {
    port.call(address, name, request, (reply) => {
      if (!isRefusal(reply)) return resolve(reply);
      const message = `partition ${address.partition} answered ${reply.refused}. Nothing was changed. Repeat this.`;
      reject(new CorrectableError('UNAVAILABLE', message));
    });
  });
}

function describe(error: unknown): string {
  return getErrorMessage(error);
}
