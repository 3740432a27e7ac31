/** What a node says about itself and its peers when it is asked over CQL. */
import { readFileSync } from 'node:fs';
import cassandra from 'cassandra-driver';
import { CQL_PORT } from './layout.ts';

const { Client, policies, types } = cassandra;

/** How to speak to the nodes of a cluster. */
export interface Access {
  readonly credentials: { readonly username: string; readonly password: string } | undefined;
  /** The certificate to trust, in PEM form, where clients use TLS. */
  readonly certificate: string | undefined;
}

/** Longer than a node waits for its peers before it says that they do not answer. */
const ANSWER_MS = 8_000;

/** A table that each node has a replica of, whatever is in it. */
const EVERYWHERE =
  "SELECT host_id FROM system_distributed.view_build_status WHERE keyspace_name = '-' AND view_name = '-'";

/**
 * How many nodes the one at `address` can reach, itself included; undefined while it does not
 * answer.
 */
export async function nodesInReach(address: string, access: Access): Promise<number | undefined> {
  const client = clientOf(address, access);
  try {
    await client.connect();
    await client.execute(EVERYWHERE, [], { consistency: types.consistencies.all });
    const peers = await client.execute('SELECT peer FROM system.peers_v2');
    return peers.rowLength + 1;
  } catch (error) {
    return reachedOf(error);
  } finally {
    await client.shutdown();
  }
}

/** A client of this node alone. */
export function clientOf(address: string, { credentials, certificate }: Access): cassandra.Client {
  return new Client({
    contactPoints: [`${address}:${CQL_PORT}`],
    policies: {
      loadBalancing: new policies.loadBalancing.AllowListPolicy(
        new policies.loadBalancing.RoundRobinPolicy(),
        [`${address}:${CQL_PORT}`],
      ),
      retry: new policies.retry.FallthroughRetryPolicy(),
    },
    socketOptions: { connectTimeout: ANSWER_MS, readTimeout: ANSWER_MS },
    pooling: { heartBeatInterval: 0 },
    ...(credentials !== undefined && { credentials }),
    ...(certificate !== undefined && {
      sslOptions: { ca: [readFileSync(certificate)], rejectUnauthorized: true },
    }),
  });
}

/** Where not all nodes can be reached the answer says how many can. */
function reachedOf(error: unknown): number | undefined {
  const { alive, received } = error as { readonly alive?: number; readonly received?: number };
  return alive ?? received;
}
