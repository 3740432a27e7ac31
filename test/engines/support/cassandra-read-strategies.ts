/**
 * The ways to a Cassandra cluster, each as a binding in a state of its own: the same tests run over
 * all of them.
 */
import { WebSocket } from 'ws';
import { remote } from '../../../src/bindings/remote/index.ts';
import {
  cassandra,
  type CassandraBinding,
  type CassandraOptions,
} from '../../../src/bindings/cassandra/index.ts';
import { preliminaryReplies } from '../../../src/research/cassandra-icg/index.ts';
import type { Binding } from '../../../src/index.ts';
import type { OperationRegistry } from '../../../src/contract/index.ts';
import { createGateway } from '../../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../../src/server/gateway/listen/listen.ts';
import { isShort, type TestCluster } from './cassandra.ts';

type Levels = readonly ['weak', 'strong'];

/** A binding to the cluster, and what stands behind it. */
export interface OpenWay {
  readonly binding: Binding<Levels>;
  /** The binding that speaks to the cluster: the same, or the one behind the gateway. */
  readonly store: CassandraBinding<Levels>;
  /** Closes the binding and all that stands behind it. */
  readonly close: () => Promise<void>;
}

/** What a binding is opened with beside where the cluster is. */
export interface WayOptions extends Partial<
  Omit<CassandraOptions, 'contactPoints' | 'translateAddress' | 'preliminaryReplies'>
> {
  /** The contract of the gateway and its clients, where there is a gateway. */
  readonly contract?: OperationRegistry;
  /** The operations that clients of a gateway may name; unless given, those of the contract. */
  readonly operations?: readonly string[];
  /**
   * Whether the first operation is to connect, and not already `open`: where connecting is to fail.
   */
  readonly lazy?: boolean;
}

/** The cluster, and the keyspace unless the options name one. */
export type Place = Pick<TestCluster, 'cluster' | 'keyspace'>;

/** One way to the cluster. */
export interface Way {
  readonly name: string;
  /** How often the cluster is asked for two views. */
  readonly requestsPerRead: 1 | 2;
  open(place: Place, options?: WayOptions): Promise<OpenWay>;
}

type ClientPlace = Required<
  Pick<CassandraOptions, 'contactPoints' | 'translateAddress' | 'keyspace'>
>;

/** Where the coordinator of Frankfurt is for a client beside it. */
export function besideFrankfurt({ cluster, keyspace }: Place): ClientPlace {
  return {
    contactPoints: cluster.contactPoints('frankfurt'),
    translateAddress: (host) => cluster.translate(host, 'frankfurt'),
    keyspace,
  };
}

function inProcess(name: string, requestsPerRead: 1 | 2): Way {
  return {
    name,
    requestsPerRead,
    async open(
      place,
      { contract: _contract, operations: _operations, lazy = false, ...options } = {},
    ) {
      const binding = cassandra({
        ...besideFrankfurt(place),
        ...options,
        ...(requestsPerRead === 1 && {
          preliminaryReplies: preliminaryReplies({ required: true }),
        }),
      }) as CassandraBinding<Levels>;
      if (!lazy) await binding.whenConnected();
      return { binding, store: binding, close: () => binding.close() };
    },
  };
}

function gateway(behind: Way): Way {
  return {
    name: `gateway, ${behind.name} behind it`,
    requestsPerRead: behind.requestsPerRead,
    async open(place, options = {}) {
      const { store, close } = await behind.open(place, options);
      const { contract } = options;
      const listener = await listenGateways({
        sites: { frankfurt: createGateway({ binding: store, contract }) },
      });
      const levels = store.consistencyLevels();
      const binding = remote({
        url: listener.siteUrl('frankfurt'),
        levels,
        contract,
        operations: options.operations ?? OPERATIONS(contract),
        WebSocket,
      });
      return {
        binding,
        store,
        async close() {
          await binding.close();
          await listener.close({ drainMs: 0 });
          await close();
        },
      };
    },
  };
}

const OPERATIONS = (contract: OperationRegistry | undefined): readonly string[] =>
  contract === undefined ? ['get', 'getMany', 'put'] : Object.keys(contract.operations);

const TWO_READS = inProcess('two reads', 2);
const ONE_READ = inProcess('one read', 1);

/** The three ways, each alone. */
export const THREE_WAYS: readonly Way[] = [TWO_READS, gateway(TWO_READS), ONE_READ];

/** All of them; in a short run without the one that joins two others. */
export const WAYS: readonly Way[] = [...THREE_WAYS, ...(isShort ? [] : [gateway(ONE_READ)])];
