/**
 * The systems that are compared, as one client sees them: reads of records and of small objects,
 * updates.
 */
import cassandraDriver from 'cassandra-driver';
import { createClient, type AnyClient, type Binding, type Operation } from 'correctables';
import { cassandra } from 'correctables/bindings/cassandra';
import { remote } from 'correctables/bindings/remote';
import { get } from 'correctables/operations';
import { preliminaryReplies } from 'correctables/research/cassandra-icg';
import { WebSocket } from 'ws';
import type { ClientSetup, System } from './messages.ts';
import { getFields, reads, SELECT, statements, update } from './ycsb-table.ts';

/** The values of a record's fields, or one small object. */
export type Value = readonly (string | null)[];

/** Called with a preliminary view. */
export type OnEarly = (value: Value) => void;

export interface OpenSystem {
  /** Reads a record; undefined if there is none. */
  read(key: string, onEarly: OnEarly): PromiseLike<Value | undefined>;
  readObject(key: string, onEarly: OnEarly): PromiseLike<Value | undefined>;
  update(key: string, field: number, value: string): PromiseLike<unknown>;
  close(): Promise<void>;
}

export const OBJECTS = 100;
/** 100 bytes, with the quotation marks that JSON puts around them. */
export const OBJECT = 'o'.repeat(98);
export const objectKeyOf = (object: number): string => `object-${object}`;
const SELECT_OBJECT = 'SELECT value FROM correctables_values WHERE key = ?';

/** The paper's updates wait for one replica. */
const WRITE = 'ONE';

export function openSystem(system: System, setup: ClientSetup): OpenSystem {
  return system.startsWith('driver ') ? openDriver(system, setup) : openCorrectable(system, setup);
}

/** Returns how many replicas a final read uses. */
function quorumOf(system: System): 1 | 2 | 3 {
  return Number(/\d/.exec(system)?.[0]) as 1 | 2 | 3;
}

function openCorrectable(system: System, setup: ClientSetup): OpenSystem {
  const store: AnyClient = createClient(bindingOf(system, setup));
  const isIncremental = system.startsWith('CC');
  const invoke = async <T>(operation: Operation<T>, onEarly: (value: T) => void): Promise<T> => {
    if (isIncremental) return store.invoke(operation).onUpdate(onEarly);
    if (system === 'C1 + C2') return invokeBoth(store, operation, onEarly);
    return system === 'C1' ? store.invokeWeak(operation) : store.invokeStrong(operation);
  };
  return {
    read: (key, onEarly) => invoke(reads.read({ key }), (value) => onEarly(value ?? [])),
    readObject: async (key, onEarly) => {
      const value = await invoke(get<string>(key), (early) => onEarly([early ?? null]));
      return value === undefined ? undefined : [value];
    },
    update: (key, field, value) => store.invokeStrong(update(key, field, value)),
    close: () => store.close(),
  };
}

/** A request for each view. Ends with the later one, as bytes of both count. */
async function invokeBoth<T>(
  store: AnyClient,
  operation: Operation<T>,
  onEarly: (value: T) => void,
): Promise<T> {
  const early = store.invokeWeak(operation).onFinal(onEarly);
  const [final] = await Promise.all([store.invokeStrong(operation), early]);
  return final;
}

function bindingOf(
  system: System,
  { gateways, contactPoint, keyspace, oneRequest }: ClientSetup,
): Binding {
  const readQuorum = quorumOf(system) === 3 ? 3 : 2;
  if (system === 'CC2 twice')
    return paperBinding({ readQuorum, contactPoint, keyspace, oneRequest: false });
  const levels = ['weak', readQuorum === 3 ? 'strong' : 'quorum'] as const;
  if (gateways !== undefined) return remote({ url: gateways[readQuorum], levels, WebSocket });
  return paperBinding({ readQuorum, contactPoint, keyspace, oneRequest });
}

export interface PaperBinding extends Pick<
  ClientSetup,
  'contactPoint' | 'keyspace' | 'oneRequest'
> {
  readonly readQuorum: 2 | 3;
}

/** The binding with the paper's profile: updates at one replica. */
export function paperBinding({
  readQuorum,
  contactPoint,
  keyspace,
  oneRequest,
}: PaperBinding): Binding {
  const binding = cassandra({
    contactPoints: [contactPoint],
    keyspace,
    read: readQuorum === 3 ? 'ALL' : 'QUORUM',
    write: WRITE,
    statements,
    ...(oneRequest && { preliminaryReplies: preliminaryReplies({ required: true }) }),
  });
  return binding as Binding;
}

/** What a program without this package does. */
function openDriver(system: System, { contactPoint, keyspace }: ClientSetup): OpenSystem {
  const { policies, types } = cassandraDriver;
  const { one: item, quorum, all } = types.consistencies;
  const consistency = { 1: item, 2: quorum, 3: all }[quorumOf(system)];
  const client = new cassandraDriver.Client({
    contactPoints: [contactPoint],
    keyspace,
    policies: {
      loadBalancing: new policies.loadBalancing.AllowListPolicy(
        new policies.loadBalancing.RoundRobinPolicy(),
        [contactPoint],
      ),
    },
    queryOptions: { prepare: true },
  });
  const select = SELECT.replace(':key', '?');
  return {
    async read(key) {
      const { rows } = await client.execute(select, [key], { consistency });
      return rows[0] === undefined ? undefined : getFields(rows[0]);
    },
    async readObject(key) {
      const { rows } = await client.execute(SELECT_OBJECT, [key], { consistency });
      return rows[0] === undefined ? undefined : [JSON.parse(rows[0]['value'] as string) as string];
    },
    update(key, field, value) {
      const cql = `UPDATE usertable SET field${field} = ? WHERE y_id = ?`;
      return client.execute(cql, [value, key], { consistency: item, isIdempotent: true });
    },
    close: () => client.shutdown(),
  };
}
