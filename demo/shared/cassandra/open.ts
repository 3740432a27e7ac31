/** Opens a contract on Cassandra: the cluster, its tables, and the requested read strategy. */
import { createClient, type Binding, type Levels } from 'correctables';
import { cassandra, type Statements } from 'correctables/bindings/cassandra';
import { remote } from 'correctables/bindings/remote';
import type { ContractInfo } from 'correctables/contract';
import { preliminaryReplies } from 'correctables/research/cassandra-icg';
import { WebSocket } from 'ws';
import type { DeploymentOptions } from '../speculation/headless.ts';
import type { SpeculationStore } from '../speculation/store.ts';
import type { CassandraOptions, Site } from '../options.ts';
import { openGateway } from './gateway.ts';
import { openKeyspace, type Keyspace } from './keyspace.ts';
import { translated, type Translations } from '../translate-operations.ts';

export interface CassandraParts {
  /** The prefix of the name of the keyspace. */
  readonly name: string;
  readonly contract: ContractInfo;
  /** The statements that make the tables. */
  readonly tables: readonly string[];
  /** The statements that implement the operations of the contract. */
  readonly statements: Statements;
  readonly translations: Translations;
  fill(keyspace: Keyspace): Promise<void>;
}

/** Starts what is needed, fills the tables and connects. */
export async function openCassandra(
  parts: CassandraParts,
  { wan, placement, client, cassandra: options, cluster }: DeploymentOptions,
  progress: (text: string) => void,
): Promise<SpeculationStore> {
  if (options === undefined) throw new TypeError('options.cassandra: say which way to take');
  const { way, coordinator } = options;
  const { name, tables } = parts;
  const nodes = { wan, placement, plugin: way === 3, coordinator, cluster };
  const keyspace = await openKeyspace({ name, tables, ...nodes }, progress);
  try {
    await parts.fill(keyspace);
    progress(`the client is beside ${client} and asks the node in ${coordinator}, way ${way}`);
    const place: Place = { keyspace, client, options };
    const { binding, release } =
      way === 2 ? await throughGateway(parts, place) : direct(parts, place);
    const store = createClient(binding);
    const close = async (): Promise<void> => {
      await store.close();
      await release();
      await keyspace.close();
    };
    return { store, close };
  } catch (error) {
    await keyspace.close();
    throw error;
  }
}

interface Place {
  readonly keyspace: Keyspace;
  readonly client: Site;
  readonly options: CassandraOptions;
}

interface Opened {
  readonly binding: Binding;
  release(): Promise<void>;
}

/** Creates a binding beside the client. */
function direct(parts: CassandraParts, { keyspace, client, options }: Place): Opened {
  return { binding: bindingAt(parts, { keyspace, client, options }), release: async () => {} };
}

/** Creates a binding that sends one request to a gateway beside the coordinator. */
async function throughGateway(
  parts: CassandraParts,
  { keyspace, client, options }: Place,
): Promise<Opened> {
  const { coordinator } = options;
  const { wan } = keyspace.cluster.state.layout;
  const { contract, translations } = parts;
  const hosted = bindingAt(parts, { keyspace, client: coordinator, options });
  const gateway = await openGateway({ binding: hosted, contract, coordinator, client, wan });
  const levels = hosted.consistencyLevels();
  const binding = remote({
    url: gateway.url,
    levels,
    operations: Object.keys(translations),
    WebSocket,
  });
  return { binding, release: () => gateway.close() };
}

/** Creates the binding of the contract to the coordinator's node, for a client beside `client`. */
function bindingAt(
  { statements, translations }: CassandraParts,
  { keyspace, client, options }: Place,
): Binding<Levels> {
  const { way, coordinator, readQuorum } = options;
  const binding = cassandra({
    contactPoints: [keyspace.cluster.address(coordinator, client)],
    keyspace: keyspace.name,
    read: readQuorum === 3 ? 'ALL' : 'QUORUM',
    write: 'QUORUM',
    statements,
    ...(way === 3 && { preliminaryReplies: preliminaryReplies({ required: true }) }),
  });
  return translated(binding as Binding<Levels>, translations);
}
