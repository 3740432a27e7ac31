/**
 * What an application may export with its types inferred: each has to be something that a
 * declaration can name.
 */
import {
  all,
  boxCorrectable,
  correctable,
  correctableFromPromise,
  correctableFromValue,
  createClient,
  CorrectableError,
  getSnapshot,
  isCorrectableError,
  structurallyEqual,
  systemClock,
} from 'correctables';
import { cached, indexedDbStore, mapStore } from 'correctables/bindings/cache';
import { directoryStore } from 'correctables/bindings/cache/node';
import {
  wasApplied,
  cassandra,
  defineStatements,
  implementStatements,
  jsonCodec,
  getKeyValueTableCql,
  noResult,
  oneRow,
  page,
  rows,
  statement,
} from 'correctables/bindings/cassandra';
import { createCausalStore } from 'correctables/bindings/causal';
import { http } from 'correctables/bindings/http';
import { httpHandler } from 'correctables/http';
import { causalRedis, createCausalDeployment } from 'correctables/bindings/causal-redis';
import { memory, memoryStore } from 'correctables/bindings/memory';
import * as pg from 'correctables/bindings/postgres';
import { getLagMs, replicas, type ReplicaStore } from 'correctables/bindings/replicas';
import { d1, migrations as d1Table, type D1DatabaseLike } from 'correctables/bindings/d1';
import { valkey } from 'correctables/bindings/valkey';
import {
  cacheAside,
  withDetails,
  tiered,
  skipLevel,
  versionSessions,
} from 'correctables/bindings/tiered';
import { signedTokens } from 'correctables/bindings/tiered/node';
import {
  exponentialBackoff,
  findSites,
  neverReconnect,
  redblue,
  REDBLUE_LEVELS,
} from 'correctables/bindings/redblue';
import { remote } from 'correctables/bindings/remote';
import {
  computeMinThreshold,
  OPEN_ACL,
  ZooKeeper,
  zookeeper,
} from 'correctables/bindings/zookeeper';
import {
  createHandler,
  defineContract,
  isDomainError,
  keyValue as keyValueContract,
  keyValueOperations,
  operation,
  parseArgs,
  queueOperations,
} from 'correctables/contract';
import {
  commit,
  dequeue,
  enqueue,
  get,
  peek,
  put,
  getRemaining,
  readVersions,
  remove,
} from 'correctables/operations';
import { retryPolicy, dedupeReads } from 'correctables/policies';
import { preliminaryReplies } from 'correctables/research/cassandra-icg';
import { atLeast, finalOnly, fromObservable, toObservable, values } from 'correctables/rxjs';
import {
  blue,
  boundedCounter,
  cell,
  counter,
  createEmbedded,
  createGateway,
  defineService,
  listenGateways,
  uncertified,
  log,
  getOneWayDelayMs,
  keyValueService,
  EU_US_ROUND_TRIPS_MS,
  queue,
  withColors,
  red,
  register,
  serve,
  set,
  shadow,
  stock,
  table,
  withMeta,
} from 'correctables/server';
import {
  testBindingConformance,
  simulateService,
  singleSiteService,
  scriptedBinding,
} from 'correctables/testing';
import { transaction } from 'correctables/transactions';
import * as z from 'zod';

// Correctables, clients and sessions.
export const binding = memory({ store: memoryStore() });
export const store = createClient(binding, {
  retry: retryPolicy({ backoff: exponentialBackoff() }),
  dedupeReads: dedupeReads(),
});
export const read = () => store.invoke(get<number>('k'));
export const weak = () => store.invokeWeak(get<{ n: number }>('k'));
export const strong = () => store.invokeStrong(get<number>('k'));
export const atLevels = () => store.invoke(get<number>('k'), { levels: ['strong'] });
export const early = () => store.invoke(dequeue<string>('q')).settle({ withinMs: 5 });
export const enough = () =>
  store.invoke(peek<string>('q')).settle({ enough: (v) => getRemaining(v) > 3 });
export const mapped = () =>
  read()
    .map(String)
    .chain((v) => store.invoke(get<Date>(v)));
export const guess = () => read().speculate(async (v, scope) => [v, scope.view] as const);
export const joined = () => all([read(), mapped()]);
export const named = () => all({ read: read(), mapped: mapped() });
export const when = () => read().when('strong');
export const stop = () => read().subscribe((view) => void view);
export const listened = () =>
  read()
    .onUpdate((view) => void view)
    .onFinal((view) => void view);
export const snapshot = () => getSnapshot(read());
export const box = () => boxCorrectable(read());
export const session = store.session();
export const counts = store.stats;
export const own = correctable(['quoted', 'charged'], (sink) => void sink.view(1, 'charged'));
export const typed = correctable(['quoted', 'charged'])<number>(
  (sink) => void sink.view(1, 'charged'),
);
export const withSink = correctable(['quoted', 'charged']).withSink<number>();
export const known = correctableFromValue(3);
export const from = correctableFromPromise(Promise.resolve(3));
export const clock = { ...systemClock };
export const policies = [retryPolicy(), dedupeReads()];
export const failure = (error: unknown) =>
  isCorrectableError(error) ? [error.code, error.lastView] : new CorrectableError('UNKNOWN', 'x');
export async function* views() {
  for await (const view of read()) yield view;
}

export const versioned = () => store.invoke(readVersions<number>(['k']));
export const committing = () => store.invoke(commit([], [{ key: 'k', value: 1 }]));
export const transfer = () =>
  transaction(store, async (tx) => ({ left: await tx.get<number>('k') }));

// Bindings.
export const causalStore = createCausalStore({ sites: ['dublin', 'oregon'], partitions: 2 });
export const dublin = createClient(causalStore.site('dublin'));
const redisSites = {
  name: 'shop',
  site: 'dublin',
  sites: { dublin: { nodes: ['10.0.0.1:6379'] } },
} as const;
export const onRedis = () => createClient(causalRedis(redisSites));
export const prepareRedis = () => createCausalDeployment(redisSites);
export const removed = () => dublin.invoke(remove('k'));
export const overHttp = createClient(
  http(keyValueContract, { url: '/api', levels: ['weak', 'strong'] }),
);
export const handler = httpHandler(keyValueContract, memory());
export const keyValueParts = [keyValueContract, keyValueService] as const;
export const front = { ...cached(memory(), {}) };
export const behind = createClient(cached(memory(), { store: mapStore() }));
export const retained = [indexedDbStore({ name: 'x' }), directoryStore({ directory: '/tmp/x' })];
export const tiers = tiered(['weak', 'strong'], { weak: () => 1, strong: async () => 2 });
export const fallback = tiered(['cache', 'origin'], {
  cache: () => skipLevel,
  origin: async () => withDetails(1, { version: 2 }),
});
export const rowSessions = versionSessions({ tokens: signedTokens() });
export const withSessions = tiered(['origin'], { origin: () => 1 }, { sessions: rowSessions });
export const asideTiers = cacheAside({
  get: async () => null,
  set: async () => 'OK',
  delete: async () => 1,
  ttlMs: 60_000,
  origin: () => 1,
});
export const zk = createClient(zookeeper({ servers: 'localhost:2181' }));
export const ticket = () => zk.invoke(dequeue<{ seat: number }>('q'));
export const directly = new ZooKeeper('localhost:2181');
export const node = () =>
  [directly.children('/'), directly.get('/'), directly.exists('/'), directly.multi([])] as const;
export const acl = [...OPEN_ACL];
export const threshold = computeMinThreshold;
export const statements = defineStatements({
  profile: {
    access: 'read',
    cql: 'SELECT name FROM people WHERE user = :user',
    args: z.object({ user: z.string() }),
    result: oneRow((row) => ({ name: row['name'] as string }), { version: 'written' }),
  },
  all: {
    access: 'read',
    cql: 'SELECT',
    args: z.object({}),
    result: rows(z.object({ a: z.int() })),
  },
  some: {
    access: 'read',
    cql: 'SELECT',
    args: z.object({}),
    result: page((row) => row['x'] as string),
  },
  add: { access: 'write', cql: 'INSERT', args: z.object({}), result: wasApplied() },
  drop: statement({ access: 'write', cql: 'DELETE', args: z.object({}), result: noResult() }),
});
export const keyspace = cassandra({ contactPoints: ['localhost'], keyspace: 'k', statements });
export const rings = createClient(keyspace);
export const profile = (user: string) => rings.invoke(statements.profile({ user }));
export const pageOf = () => rings.invoke(statements.some({}));
export const codec = { ...jsonCodec };
export const oneRequest = preliminaryReplies({ required: true });
export const sqlStatements = pg.defineStatements({
  age: {
    access: 'read',
    sql: 'select age from people where name = :name',
    args: z.object({ name: z.string() }),
    result: pg.oneRow((row) => row['age'] as number),
  },
});
export const people = createClient(
  pg.postgres({ primary: 'postgres://localhost/k', statements: sqlStatements }),
);
export const age = (name: string) => people.invoke(sqlStatements.age({ name }));
export const onD1 = (database: D1DatabaseLike) => createClient(d1({ database }));
export const d1Sql = d1Table();
export const onValkey = () => createClient(valkey({ primary: 'localhost' }));
export const sqlTables = pg.migrations();
export const replicated = (mine: ReplicaStore<number>) => createClient(replicas(mine));
export const lag = async () => getLagMs(await age('ada').when('replica'));
export const keyValue = getKeyValueTableCql({ keyspace: 'k', table: 'v' });

// Contracts, services and their clients.
export const contract = defineContract('c', {
  ...keyValueOperations,
  add: {
    access: 'write',
    color: 'blue',
    args: z.object({ n: z.int() }),
    result: z.null(),
    errors: { no: z.object({ why: z.string() }) },
    key: ({ n }) => String(n),
  },
  take: { access: 'write', color: 'red', args: z.object({ n: z.int() }), result: z.int() },
  either: { access: 'write', args: z.object({ n: z.int() }), result: z.int() },
  total: { access: 'read', args: z.object({}), result: z.int() },
});
export const queues = defineContract('q', queueOperations);
export const apart = operation({
  access: 'read',
  args: z.object({ q: z.string() }),
  result: z.int().optional(),
  key: ({ q }) => q,
});
export const add = (n: number) => contract.add({ n });
export const take = (n: number) => contract.take({ n });
export const either = (n: number) => contract.either({ n });
export const look = () => contract.total({});
export const define = defineContract;
export const adding = createHandler(contract, { add: () => null, total: () => 0 });
export const parsed = parseArgs(contract, look());
export const refused = (error: unknown) =>
  isDomainError(error, contract.operations.add, 'no') ? error : undefined;
export const implemented = implementStatements(defineContract('b', { one: apart }), {
  one: { cql: 'SELECT', result: oneRow((row) => row['n'] as number) },
});
export const bank = defineContract('bank', {
  add: contract.operations.add,
  take: contract.operations.take,
  total: contract.operations.total,
});
export const tables = {
  rows: table(
    {
      n: counter(),
      tag: register<string>(),
      seen: set<string>(),
      rank: cell<number>(),
      lines: log<{ at: number }>(),
    },
    { indexes: ['tag'], removable: true },
  ),
  halls: table({ seats: boundedCounter({ min: 0 }), stock: stock(), items: queue<string>() }),
};
export const service = defineService(bank, {
  tables,
  shadowOperations: ({ rows: all, halls }) => ({
    add: blue((a: { n: number }) => [all.row('r').n.add(a.n), all.row('r').seen.add('x')]),
    take: red(
      (a: { n: number }) => [halls.row('h').stock.take(a.n)],
      ([taken]) => withMeta(taken.took ? 1 : 0, { left: 3 }),
    ),
    pop: red(() => [halls.row('h').items.pop()]),
    plain: shadow((a: { n: number }) => [halls.row('h').seats.take(a.n)]),
  }),
  colors: { plain: 'blue' },
  generators: {
    add: (a, { shadow: choose, errors, uniqueId }) => {
      if (uniqueId() === '') throw errors.no({ why: 'x' });
      return choose.add(a, null);
    },
    take: (a, { shadow: choose }) => choose.take(a),
    total: (_, { tables: t }) => t.rows.row('r').n,
  },
});
export const chosen = uncertified(3);
export const isRedOnly = withColors(service, { add: 'red' });
export const client = createClient(
  redblue(bank, { url: 'ws://localhost/ireland', reconnect: neverReconnect }),
);
export const added = (n: number) => client.invoke(bank.add({ n }));
export const taken = (n: number) => client.invoke(bank.take({ n })).map((left) => left + 1);
export const total = () => client.invoke(bank.total({}));
export const quick = () => client.invokeWeak(bank.total({}));
export const behindGateway = createClient(
  remote({ url: 'ws://localhost/a', levels: ['weak', 'strong'], contract }),
);
export const totalThere = () =>
  behindGateway.invoke(contract.total({})).settle({ enough: (v) => v.level === 'weak' });
export const sites = () => findSites('http://localhost');
export const redblueLevels = [...REDBLUE_LEVELS];
export const embedded = createEmbedded(service, { sites: ['a', 'b'] });
export const site = createClient(embedded.site('a'));
export const served = () => serve({ service, sites: ['a'], port: 0 });
export const gateway = createGateway({ binding });
export const listening = () => listenGateways({ port: 0, sites: { a: gateway } });
export const delay = getOneWayDelayMs(EU_US_ROUND_TRIPS_MS, 'ireland', 'frankfurt');
export class Repository {
  readonly client = client;
  add = (n: number) => this.client.invoke(bank.add({ n }));
  all() {
    return [bank.total({}), bank.take({ n: 1 })] as const;
  }
}

// Observables and tests.
export const observed = () => toObservable(read());
export const operators = [
  values<number>(),
  finalOnly<number, readonly ['weak', 'strong'], 'strong'>(),
] as const;
export const above = atLeast(store.levels, 'strong');
export const backFrom = () => fromObservable(['weak', 'strong'], observed(), { view: (v) => v });
export const plain = singleSiteService(service);
export const scripted = scriptedBinding(['weak', 'strong']);
export const check = testBindingConformance;
export { simulateService, enqueue, put, red, structurallyEqual };
