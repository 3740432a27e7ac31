/** What an application may export with its types inferred: each has to be something that a declaration can name. */
import {
  all,
  boxed,
  correctable,
  correctableFrom,
  correctableOf,
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
  applied,
  cassandra,
  defineStatements,
  implementStatements,
  jsonCodec,
  keyValueTable,
  nothing,
  one,
  page,
  rows,
  statement,
} from 'correctables/bindings/cassandra';
import { memory, memoryStore } from 'correctables/bindings/memory';
import { answer, tiered, noAnswer } from 'correctables/bindings/primary-backup';
import { exponentialBackoff, findSites, neverReconnect, redblue, REDBLUE_LEVELS } from 'correctables/bindings/redblue';
import { remote } from 'correctables/bindings/remote';
import { minimumThreshold, OPEN_ACL, ZooKeeper, zookeeper } from 'correctables/bindings/zookeeper';
import {
  byContract,
  defineContract,
  isDomainError,
  keyValueOperations,
  operation,
  parseArgs,
  queueOperations,
} from 'correctables/contract';
import { dequeue, enqueue, get, peek, put, remaining } from 'correctables/operations';
import { retries, sharedReads } from 'correctables/policies';
import { atLeast, finalOnly, fromObservable, toObservable, values } from 'correctables/rxjs';
import {
  blue,
  bounded,
  cell,
  counter,
  createEmbedded,
  createGateway,
  defineService,
  listenGateways,
  local,
  log,
  oneWayDelayMs,
  PAPER_ROUND_TRIPS_MS,
  queue,
  recoloured,
  red,
  register,
  serve,
  set,
  shadow,
  stock,
  table,
  withMeta,
} from 'correctables/server';
import { bindingContract, checkService, plainService, scriptedBinding } from 'correctables/testing';
import * as z from 'zod';

// Correctables, clients and sessions.
export const binding = memory({ store: memoryStore() });
export const store = createClient(binding, {
  retry: retries({ backoff: exponentialBackoff() }),
  shareReads: sharedReads(),
});
export const read = () => store.invoke(get<number>('k'));
export const weak = () => store.invokeWeak(get<{ n: number }>('k'));
export const strong = () => store.invokeStrong(get<number>('k'));
export const atLevels = () => store.invoke(get<number>('k'), { levels: ['strong'] });
export const early = () => store.invoke(dequeue<string>('q')).settle({ withinMs: 5 });
export const enough = () => store.invoke(peek<string>('q')).settle({ enough: (v) => remaining(v) > 3 });
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
export const box = () => boxed(read());
export const session = store.session();
export const counts = store.counters;
export const own = correctable(['quoted', 'charged'], (sink) => void sink.update(1, 'charged'));
export const typed = correctable(['quoted', 'charged'])<number>((sink) => void sink.update(1, 'charged'));
export const withSink = correctable(['quoted', 'charged']).withSink<number>();
export const known = correctableOf(3);
export const from = correctableFrom(Promise.resolve(3));
export const clock = { ...systemClock };
export const policies = [retries(), sharedReads()];
export const failure = (error: unknown) =>
  isCorrectableError(error) ? [error.code, error.lastView] : new CorrectableError('UNKNOWN', 'x');
export async function* views() {
  for await (const view of read()) yield view;
}

// Bindings.
export const front = { ...cached(memory(), {}) };
export const behind = createClient(cached(memory(), { store: mapStore() }));
export const kept = [indexedDbStore({ name: 'x' }), directoryStore({ directory: '/tmp/x' })];
export const tiers = tiered(['weak', 'strong'], { weak: () => 1, strong: async () => 2 });
export const fallback = tiered(['cache', 'origin'], {
  cache: () => noAnswer,
  origin: async () => answer(1, { version: 2 }),
});
export const zk = createClient(zookeeper({ servers: 'localhost:2181' }));
export const ticket = () => zk.invoke(dequeue<{ seat: number }>('q'));
export const directly = new ZooKeeper('localhost:2181');
export const node = () =>
  [directly.children('/'), directly.get('/'), directly.exists('/'), directly.multi([])] as const;
export const acl = [...OPEN_ACL];
export const threshold = minimumThreshold;
export const statements = defineStatements({
  profile: {
    effect: 'read',
    cql: 'SELECT name FROM people WHERE user = :user',
    args: z.object({ user: z.string() }),
    result: one((row) => ({ name: row['name'] as string }), { version: 'written' }),
  },
  all: { effect: 'read', cql: 'SELECT', args: z.object({}), result: rows(z.object({ a: z.int() })) },
  some: { effect: 'read', cql: 'SELECT', args: z.object({}), result: page((row) => row['x'] as string) },
  add: { effect: 'update', cql: 'INSERT', args: z.object({}), result: applied() },
  drop: statement({ effect: 'update', cql: 'DELETE', args: z.object({}), result: nothing() }),
});
export const keyspace = cassandra({ contactPoints: ['localhost'], keyspace: 'k', statements });
export const rings = createClient(keyspace);
export const profile = (user: string) => rings.invoke(statements.profile({ user }));
export const pageOf = () => rings.invoke(statements.some({}));
export const codec = { ...jsonCodec };
export const keyValue = keyValueTable({ keyspace: 'k', table: 'v' });

// Contracts, services and their clients.
export const contract = defineContract('c', {
  ...keyValueOperations,
  add: {
    effect: 'update',
    colour: 'blue',
    args: z.object({ n: z.int() }),
    result: z.null(),
    errors: { no: z.object({ why: z.string() }) },
    key: ({ n }) => String(n),
  },
  take: { effect: 'update', colour: 'red', args: z.object({ n: z.int() }), result: z.int() },
  either: { effect: 'update', args: z.object({ n: z.int() }), result: z.int() },
  total: { effect: 'read', args: z.object({}), result: z.int() },
});
export const queues = defineContract('q', queueOperations);
export const apart = operation({
  effect: 'read',
  args: z.object({ q: z.string() }),
  result: z.int().optional(),
  key: ({ q }) => q,
});
export const add = (n: number) => contract.add({ n });
export const take = (n: number) => contract.take({ n });
export const either = (n: number) => contract.either({ n });
export const look = () => contract.total({});
export const define = defineContract;
export const adding = byContract(contract, { add: ({ n }) => n, total: () => 0 });
export const parsed = parseArgs(contract, look());
export const refused = (error: unknown) => (isDomainError(error, contract.operations.add, 'no') ? error : undefined);
export const implemented = implementStatements(defineContract('b', { one: apart }), {
  one: { cql: 'SELECT', result: one((row) => row['n'] as number) },
});
export const bank = defineContract('bank', {
  add: contract.operations.add,
  take: contract.operations.take,
  total: contract.operations.total,
});
export const tables = {
  rows: table(
    { n: counter(), tag: register<string>(), seen: set<string>(), rank: cell<number>(), lines: log<{ at: number }>() },
    { indexes: ['tag'], removable: true },
  ),
  halls: table({ seats: bounded({ min: 0 }), stock: stock(), items: queue<string>() }),
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
  colours: { plain: 'blue' },
  generators: {
    add: (a, { shadow: choose, errors, uniqueId }) => {
      if (uniqueId() === '') throw errors.no({ why: 'x' });
      return choose.add(a, null);
    },
    take: (a, { shadow: choose }) => choose.take(a),
    total: (_, { tables: t }) => t.rows.row('r').n,
  },
});
export const chosen = local(3);
export const redOnly = recoloured(service, { add: 'red' });
export const client = createClient(redblue(bank, { url: 'ws://localhost/irl', reconnect: neverReconnect }));
export const added = (n: number) => client.invoke(bank.add({ n }));
export const taken = (n: number) => client.invoke(bank.take({ n })).map((left) => left + 1);
export const total = () => client.invoke(bank.total({}));
export const quick = () => client.invokeWeak(bank.total({}));
export const behindGateway = createClient(remote({ url: 'ws://localhost/a', levels: ['weak', 'strong'], contract }));
export const totalThere = () => behindGateway.invoke(contract.total({})).settle({ enough: (v) => v.level === 'weak' });
export const sites = () => findSites('http://localhost');
export const redblueLevels = [...REDBLUE_LEVELS];
export const embedded = createEmbedded(service, { sites: ['a', 'b'] });
export const site = createClient(embedded.site('a'));
export const served = () => serve({ service, sites: ['a'], port: 0 });
export const gateway = createGateway({ binding });
export const listening = () => listenGateways({ port: 0, sites: { a: gateway } });
export const delay = oneWayDelayMs(PAPER_ROUND_TRIPS_MS, 'irl', 'frk');
export class Repository {
  readonly client = client;
  add = (n: number) => this.client.invoke(bank.add({ n }));
  all() {
    return [bank.total({}), bank.take({ n: 1 })] as const;
  }
}

// Observables and tests.
export const observed = () => toObservable(read());
export const operators = [values<number>(), finalOnly<number, readonly ['weak', 'strong'], 'strong'>()] as const;
export const above = atLeast(store.levels, 'strong');
export const backFrom = () => fromObservable(['weak', 'strong'], observed(), { view: (v) => v });
export const plain = plainService(service);
export const scripted = scriptedBinding(['weak', 'strong']);
export const check = bindingContract;
export { checkService, enqueue, put, red, structurallyEqual };
