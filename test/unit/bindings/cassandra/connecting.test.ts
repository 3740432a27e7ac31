/**
 * How a binding comes to its cluster: options, driver, first connection, coordinators, and which
 * way reads take.
 */
import { createServer, type AddressInfo } from 'node:net';
import type { ConnectionOptions, PeerCertificate } from 'node:tls';
import cassandraDriver from 'cassandra-driver';
import { build } from 'esbuild';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  parseAddress,
  type ServerAddress,
} from '../../../../src/bindings/shared/server-address.ts';
import { SelectedReadStrategy } from '../../../../src/bindings/cassandra/select-read-strategy.ts';
import {
  loadDriver,
  type CassandraDriver,
  type DriverHost,
} from '../../../../src/bindings/cassandra/driver.ts';
import {
  cassandra,
  defineStatements,
  getKeyValueTableCql,
  type CassandraOptions,
} from '../../../../src/bindings/cassandra/index.ts';
import {
  createAddressTranslator,
  createCoordinatorPolicy,
  createRetryPolicyClass,
} from '../../../../src/bindings/cassandra/driver-policies.ts';
import { Execution } from '../../../../src/bindings/cassandra/execution.ts';
import type {
  PreliminaryReplies,
  ReadStrategy,
  ReadStrategyOptions,
} from '../../../../src/bindings/cassandra/read-strategy.ts';
import { createClient } from '../../../../src/index.ts';
import { get } from '../../../../src/operations/index.ts';
import { preliminaryReplies } from '../../../../src/research/cassandra-icg/index.ts';
import { fakeDriver } from './fake-driver.ts';
import { TLS_CERT } from '../../research/cassandra-icg/test-certificate.ts';

const at = (...points: readonly string[]): ServerAddress[] =>
  points.map((point) => parseAddress(point, 9042)!);
const BASE = { contactPoints: ['a', 'b:9043', '[::1]', '[::1]:9044'], keyspace: 'Shop' } as const;
const driver: CassandraDriver = cassandraDriver;

function open(options: Partial<CassandraOptions> = {}) {
  const fake = fakeDriver();
  const binding = cassandra({ ...BASE, driver: fake.driver, ...options } as CassandraOptions);
  return { fake, binding, client: createClient(binding) };
}

test.each<[Partial<Record<keyof CassandraOptions, unknown>>, string]>([
  [{ contactPoints: [] }, 'contactPoints'],
  [{ contactPoints: ['a', 'http://b'] }, 'contactPoints[1]'],
  [{ contactPoints: ['a:70000'] }, 'contactPoints[0]'],
  [{ contactPoints: ['[a]:9042'] }, 'contactPoints[0]'],
  [{ keyspace: 'x; DROP' }, 'keyspace'],
  [{ table: '1st' }, 'table'],
  [{ write: 'ANY' }, 'write'],
  [{ weak: 'QUORUM' }, 'weak'],
  [{ preliminaryReplies: 'auto' }, 'preliminaryReplies'],
  [{ requestTimeoutMs: 0 }, 'requestTimeoutMs'],
])('options: %j → INVALID_ARGUMENT naming %s', (wrong, field) => {
  expect(() => open(wrong as Partial<CassandraOptions>)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field }),
  );
});

test('driver: its options → pinned coordinators, our retries, the rest as passed', async () => {
  const requestTracker = {};
  const { fake, binding } = open({
    credentials: { username: 'u', password: 'p' },
    tls: { ca: 'pem' },
    requestTimeoutMs: 5_000,
    clientOptions: {
      requestTracker,
      contactPoints: ['elsewhere'],
      socketOptions: { keepAlive: false },
    },
  });
  expect(fake.made).toEqual([]);
  await binding.whenConnected();
  expect(fake.made[0]).toMatchObject({
    contactPoints: ['a:9042'],
    keyspace: 'shop',
    credentials: { username: 'u', password: 'p' },
    sslOptions: { ca: 'pem', rejectUnauthorized: true },
    requestTracker,
    socketOptions: { keepAlive: false, readTimeout: 5_000 },
  });
  await binding.close();
});

test('driver: speculation, profiles of its own → left out: one coordinator, and a write that is sent once', async () => {
  const { policies, ExecutionProfile, Client } = cassandraDriver;
  const speculativeExecution = new policies.speculativeExecution.ConstantSpeculativeExecutionPolicy(
    100,
    2,
  );
  const profile = new ExecutionProfile('default', {
    loadBalancing: new policies.loadBalancing.RoundRobinPolicy(),
  });
  const clientOptions = { policies: { speculativeExecution }, profiles: [profile] };
  const { fake, binding } = open({ clientOptions });
  await binding.whenConnected();
  await binding.close();
  // The client of the driver shows the resulting options.
  const { options } = new Client(fake.made[0] as never) as unknown as {
    options: cassandraDriver.ClientOptions;
  };
  expect(options.policies?.speculativeExecution).toBeInstanceOf(
    policies.speculativeExecution.NoSpeculativeExecutionPolicy,
  );
  expect(options.profiles).toBeUndefined();
  expect(options.policies?.loadBalancing?.constructor.name).toBe('CoordinatorPolicy');
});

/** Returns the endpoint under which the driver knows the node that has this address. */
async function endpointOf(address: string, options: Partial<CassandraOptions>): Promise<string> {
  const { fake, binding } = open(options);
  await binding.whenConnected();
  await binding.close();
  const { options: resolved } = new cassandraDriver.Client(fake.made[0] as never) as unknown as {
    options: { policies: { addressResolution: object }; protocolOptions: { port: number } };
  };
  const translator = resolved.policies.addressResolution as {
    translate(address: string, port: number, done: (endpoint: string) => void): void;
  };
  return new Promise((done) => translator.translate(address, resolved.protocolOptions.port, done));
}

test.each<[string, string, Partial<CassandraOptions>, string]>([
  ['the one of a name', '10.0.0.7', { contactPoints: ['a:19042', 'b:19042'] }, '10.0.0.7:19042'],
  [
    'its own',
    '10.0.0.2',
    { contactPoints: ['10.0.0.1:19042', '10.0.0.2:29042'] },
    '10.0.0.2:29042',
  ],
  ['its own', '::1', { contactPoints: ['a:19042', '[::1]:29042'] }, '::1:29042'],
  [
    'that of the first',
    '10.0.0.3',
    { contactPoints: ['10.0.0.1:19042', '10.0.0.2:29042'] },
    '10.0.0.3:19042',
  ],
  ['9042', '10.0.0.7', { contactPoints: ['a', 'b'] }, '10.0.0.7:9042'],
  [
    'that of the driver',
    '10.0.0.7',
    { contactPoints: ['a:19042'], clientOptions: { protocolOptions: { port: 39042 } } },
    '10.0.0.7:39042',
  ],
  [
    'that of the translation',
    '10.0.0.7',
    { contactPoints: ['127.0.0.1:19042'], translateAddress: () => '127.0.0.1' },
    '127.0.0.1:19042',
  ],
])(
  'ports: a node that reports only its address → %s (%#)',
  async (_, address, options, endpoint) => {
    expect(await endpointOf(address, options)).toBe(endpoint);
  },
);

test('addresses: a translator of the driver → stays where there is no translateAddress', async () => {
  const addressResolution =
    new cassandraDriver.policies.addressResolution.EC2MultiRegionTranslator();
  const { fake, binding } = open({ clientOptions: { policies: { addressResolution } } });
  await binding.whenConnected();
  await binding.close();
  expect(fake.made[0]).toMatchObject({ policies: { addressResolution } });
});

test('TLS by the options of the driver → that of every connection, and nothing goes out in clear', async () => {
  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.on('data', (bytes) => heard.push(bytes.toString('latin1')));
    socket.on('error', () => {});
    // Hung up after the first bytes: an unanswered handshake would go on until its timeout.
    socket.once('data', () => socket.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { fake, binding } = open({
    contactPoints: [`127.0.0.1:${port}`],
    credentials: { username: 'app', password: 's3cret' },
    clientOptions: { sslOptions: { ca: TLS_CERT } },
    preliminaryReplies: preliminaryReplies(),
  });
  const connected = binding.whenConnected();
  await expect.poll(() => heard.length).toBeGreaterThan(0);
  await binding.close();
  server.close();
  await connected.catch(() => {});
  expect(fake.made[0]).toMatchObject({ sslOptions: { ca: TLS_CERT, rejectUnauthorized: true } });
  // The first byte of a handshake: the first word of TLS.
  expect(heard[0]?.charCodeAt(0)).toBe(0x16);
  expect(heard.join('')).not.toContain('s3cret');
});

test('TLS: a certificate for the name of a contact point, the driver connects by number → taken; for another name → refused', async () => {
  const identity = async (options: Partial<CassandraOptions>) => {
    const { fake, binding } = open({
      contactPoints: ['frankfurt.example:9042', '[::1]:9042'],
      ...options,
    });
    await binding.whenConnected();
    await binding.close();
    return (fake.made[0] as { sslOptions: ConnectionOptions }).sslOptions.checkServerIdentity;
  };
  const check = await identity({ tls: { ca: 'pem' } });
  const certificate = (subjectaltname: string) =>
    ({ subject: {}, subjectaltname }) as unknown as PeerCertificate;
  expect(check?.('10.0.0.1', certificate('DNS:frankfurt.example'))).toBeUndefined();
  expect(check?.('10.0.0.1', certificate('IP Address:10.0.0.1'))).toBeUndefined();
  expect(check?.('10.0.0.1', certificate('DNS:elsewhere.example'))).toBeInstanceOf(Error);
  expect(await identity({ tls: { ca: 'pem', servername: 'cluster.example' } })).toBeUndefined();
});

test('driver: not installed → an error that names the package and what to do', async () => {
  const missing = loadDriver(undefined, () => Promise.reject(new Error('Cannot find package')));
  await expect(missing).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    field: 'driver',
    message: expect.stringContaining('npm install cassandra-driver'),
  });
});

test('driver: installed, or given → that one', async () => {
  expect((await loadDriver(undefined)).Client).toBe(cassandraDriver.Client);
  const { driver: value } = fakeDriver();
  expect(await loadDriver(value)).toBe(value);
});

test('connection: many operations at once → one connection', async () => {
  const { fake, client } = open();
  fake.answerAll(() => ({ rows: [] }));
  await Promise.all(Array.from({ length: 20 }, () => client.invoke(get('k'))));
  expect(fake.made).toHaveLength(1);
});

test('connection: fails → UNAVAILABLE for waiting operations, and the next operation tries again', async () => {
  const { fake, binding, client } = open();
  fake.answerAll(() => ({ rows: [] }));
  fake.connect = () =>
    Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
  await expect(client.invoke(get('k'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect(binding.whenConnected()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(fake.shutdowns).toBe(fake.made.length);
  fake.connect = () => Promise.resolve();
  expect(await client.invoke(get('k'))).toBeUndefined();
});

test('connection: still being made at close → closed at once, shut down when the driver has it', async () => {
  const { fake, client } = open();
  let connected = (): void => {};
  fake.connect = () => new Promise((resolve) => (connected = resolve));
  const read = client.invoke(get('k'));
  await expect.poll(() => fake.made.length).toBe(1);
  await client.close();
  await expect(read).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(fake.shutdowns).toBe(0);
  connected();
  await expect.poll(() => fake.shutdowns).toBe(1);
});

test('createTable → made before the first operation', async () => {
  const { fake, client } = open({ createTable: true, table: 'kv' });
  fake.answerAll(() => ({ rows: [] }));
  await client.invoke(get('k'));
  expect(fake.executed[0]?.cql).toBe(getKeyValueTableCql({ keyspace: 'shop', table: 'kv' }));
});

const NETWORK = 'org.apache.cassandra.locator.NetworkTopologyStrategy';

test.each([
  [{ class: NETWORK, eu: '3' }, true],
  [{ class: NETWORK, eu: '3', us: '0' }, true],
  [{ class: NETWORK, eu: '2', us: '1' }, false],
  [{ class: 'org.apache.cassandra.locator.SimpleStrategy', replication_factor: '3' }, false],
  [undefined, false],
])('singleDataCenter: replication %j → believed: %s', async (replication, isTrue) => {
  const { fake, client } = open({
    singleDataCenter: true,
    read: 'LOCAL_QUORUM',
    write: 'LOCAL_QUORUM',
  });
  fake.answerAll(({ cql }) => ({
    rows: cql.includes('system_schema') && replication ? [{ replication }] : [],
  }));
  const read = client.invoke(get('k'));
  if (isTrue) expect(await read).toBeUndefined();
  else
    await expect(read).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'singleDataCenter',
    });
});

test.each([
  ['UPDATE /* all sites */ wide.t SET v = 1 WHERE id = :id', false],
  ['UPDATE -- all sites\n wide.t SET v = 1 WHERE id = :id', false],
  ["INSERT INTO t (id, body) VALUES (:id, 'mail from wide.x')", true],
  ['UPDATE t SET v = 1 WHERE id = :id -- taken from wide.x', true],
])('singleDataCenter: %s, wide is in two → believed: %s', async (cql, isTrue) => {
  const statements = defineStatements({
    write: { access: 'write', cql, args: z.object({ id: z.string() }) },
  });
  const { fake, client } = open({
    singleDataCenter: true,
    read: 'LOCAL_QUORUM',
    write: 'LOCAL_QUORUM',
    statements,
  });
  const sites = { shop: { eu: '3' }, wide: { eu: '3', us: '3' } };
  fake.answerAll(({ cql, params }) => {
    const replication = { class: NETWORK, ...sites[params[0] as keyof typeof sites] };
    return { rows: cql.includes('system_schema') ? [{ replication }] : [] };
  });
  const read = client.invoke(get('k'));
  if (isTrue) expect(await read).toBeUndefined();
  else
    await expect(read).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'singleDataCenter',
    });
});

function planOf(
  policy: object,
  addresses: readonly string[],
): { ready: Promise<void>; plan: () => string[] } {
  const hosts = addresses.map((address) => ({ address }));
  const lb = policy as {
    init(
      client: unknown,
      hosts: { values(): DriverHost[] },
      done: (error?: Error | null) => void,
    ): void;
    newQueryPlan(
      keyspace: string,
      options: unknown,
      done: (error: unknown, plan: Iterable<DriverHost>) => void,
    ): void;
  };
  return {
    ready: new Promise((resolve, reject) => {
      lb.init({}, { values: () => hosts }, (error) => (error ? reject(error) : resolve()));
    }),
    plan: () => {
      let planned: string[] = [];
      lb.newQueryPlan(
        'shop',
        {},
        (_, plan) => (planned = Array.from(plan, ({ address }) => address)),
      );
      return planned;
    },
  };
}

test('coordinators: listed nodes in their order, no others', async () => {
  const policy = createCoordinatorPolicy(driver, at('127.0.0.2', 'localhost', '127.0.0.9'));
  const { ready, plan } = planOf(policy, ['127.0.0.1:9042', '127.0.0.2:9042', '127.0.0.3:9042']);
  await ready;
  expect(plan()).toEqual(['127.0.0.2:9042', '127.0.0.1:9042']);
  const distance = (address: string): number =>
    (policy as unknown as { getDistance(host: DriverHost): number }).getDistance({ address });
  expect(['127.0.0.2:9042', '127.0.0.1:9042', '127.0.0.3:9042'].map(distance)).toEqual([0, 1, 2]);
});

/** A policy over names whose addresses the test moves. */
function named(points: readonly string[], names: Map<string, string>) {
  const lookUps: string[] = [];
  const lookUp = (host: string): Promise<{ readonly address: string }> => {
    lookUps.push(host);
    const address = names.get(host);
    return address === undefined
      ? Promise.reject(new Error('ENOTFOUND'))
      : Promise.resolve({ address });
  };
  const policy = createCoordinatorPolicy(driver, at(...points), { lookUp });
  const hosts: DriverHost[] = [];
  const lb = policy as unknown as {
    init(
      client: unknown,
      hosts: { values(): DriverHost[] },
      done: (error?: Error | null) => void,
    ): void;
    newQueryPlan(
      keyspace: string,
      options: unknown,
      done: (error: unknown, plan: Iterable<DriverHost>) => void,
    ): void;
    getDistance(host: DriverHost): number;
  };
  return {
    hosts,
    lookUps,
    distance: (address: string) => lb.getDistance({ address }),
    ready: () =>
      new Promise<void>((resolve, reject) => {
        lb.init({}, { values: () => hosts }, (error) => (error ? reject(error) : resolve()));
      }),
    plan: () =>
      new Promise<readonly string[]>((resolve) => {
        lb.newQueryPlan('shop', {}, (_, plan) =>
          resolve(Array.from(plan, ({ address }) => address)),
        );
      }),
  };
}

test('coordinators: the only node comes back at another address → found by its name, for the next request', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const names = new Map([['frankfurt', '10.0.0.1']]);
  const { hosts, ready, plan, distance, lookUps } = named(['frankfurt:9042'], names);
  hosts.push({ address: '10.0.0.1:9042' });
  await ready();
  expect(await plan()).toEqual(['10.0.0.1:9042']);
  expect(lookUps).toEqual(['frankfurt']);
  names.set('frankfurt', '10.0.0.9');
  hosts.splice(0, 1, { address: '10.0.0.9:9042' });
  vi.advanceTimersByTime(5_000);
  expect(await plan()).toEqual(['10.0.0.9:9042']);
  expect([distance('10.0.0.9:9042'), distance('10.0.0.1:9042')]).toEqual([0, 2]);
  vi.useRealTimers();
});

test('coordinators: a name that cannot be found at first → the others meanwhile, looked up again, not each time', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const names = new Map([['ireland', '10.0.0.2']]);
  const { hosts, ready, plan, distance, lookUps } = named(
    ['frankfurt:9042', 'ireland:9042'],
    names,
  );
  hosts.push({ address: '10.0.0.1:9042' }, { address: '10.0.0.2:9042' });
  await ready();
  for (let n = 0; n < 10; n += 1) expect(await plan()).toEqual(['10.0.0.2:9042']);
  expect(distance('10.0.0.2:9042')).toBe(0);
  expect(lookUps).toEqual(['frankfurt', 'ireland']);
  names.set('frankfurt', '10.0.0.1');
  vi.advanceTimersByTime(5_000);
  await plan();
  await Promise.resolve();
  await expect.poll(plan).toEqual(['10.0.0.1:9042', '10.0.0.2:9042']);
  expect(lookUps).toEqual(['frankfurt', 'ireland', 'frankfurt']);
  expect([distance('10.0.0.1:9042'), distance('10.0.0.2:9042')]).toEqual([0, 1]);
  vi.useRealTimers();
});

test('coordinators: no contact point is the address of a node → the error lists the addresses that are', async () => {
  const { ready } = planOf(createCoordinatorPolicy(driver, at('127.0.0.9')), ['10.0.0.1:9042']);
  await expect(ready).rejects.toThrow(/contactPoints: .*10\.0\.0\.1:9042/);
});

test.each([
  ['10.1.1.1', '10.1.1.1:9042'],
  ['10.1.1.1:19042', '10.1.1.1:19042'],
  ['fd00::9042', 'fd00::9042:9042'],
])('addresses: translated to %s → %s', (translated, endpoint) => {
  const translator = createAddressTranslator(driver, [], (address) =>
    address === '10.0.0.1' ? translated : address,
  );
  let value = '';
  (translator as { translate(a: string, p: number, done: (e: string) => void): void }).translate(
    '10.0.0.1',
    9042,
    (e) => {
      value = e;
    },
  );
  expect(value).toBe(endpoint);
});

test('retries: what the driver asks about → once at the next node, never where replicas are missing', () => {
  const Policy = createRetryPolicyClass(driver);
  const policy = new Policy() as unknown as cassandraDriver.policies.retry.RetryPolicy;
  const first = { nbRetry: 0 } as cassandraDriver.policies.retry.OperationInfo;
  const second = { nbRetry: 1 } as cassandraDriver.policies.retry.OperationInfo;
  const retry = expect.objectContaining({ decision: 1 });
  const rethrow = expect.objectContaining({ decision: 0 });
  const error = new Error('lost');
  expect(policy.onRequestError(first, 4, error)).toEqual({ decision: 1, useCurrentHost: false });
  expect(policy.onRequestError(second, 4, error)).toEqual(rethrow);
  expect(policy.onUnavailable(first, 4, 2, false)).toEqual(rethrow);
  expect(policy.onWriteTimeout(first, 4, 1, 2, 'SIMPLE')).toEqual(rethrow);
  expect(policy.onReadTimeout(first, 4, 2, 2, false)).toEqual(retry);
  expect(policy.onReadTimeout(first, 4, 1, 2, true)).toEqual(rethrow);
  expect(policy.onReadTimeout(second, 4, 2, 2, false)).toEqual(rethrow);
});

test('retries: of a write → each is reported, and there is no second decision under IF', () => {
  const Policy = createRetryPolicyClass(driver);
  const execution = new Execution({ isWrite: true });
  const policy = new Policy(execution) as unknown as cassandraDriver.policies.retry.RetryPolicy;
  const first = { nbRetry: 0 } as cassandraDriver.policies.retry.OperationInfo;
  const error = new Error('lost');
  expect(policy.onReadTimeout(first, 4, 2, 2, false)).toMatchObject({ decision: 0 });
  expect(policy.onRequestError(first, 4, error)).toMatchObject({ decision: 1 });
  expect(policy.onRequestError({ ...first, nbRetry: 1 }, 4, new Error('again'))).toMatchObject({
    decision: 0,
  });
  expect(execution.earlierErrors).toEqual([error]);
});

const driverReads: ReadStrategy = {
  read: (_statement, _request, sink) => sink.fail(new Error('plain')),
  close: async () => {},
};
const settings: ReadStrategyOptions = {
  contactPoints: at('frankfurt'),
  keyspace: 'shop',
  credentials: undefined,
  tls: undefined,
  requestTimeoutMs: 1_000,
  driverReads,
};

type Request = 'none' | 'optional' | 'required';

function chooser(requested: Request, open: PreliminaryReplies['open']): SelectedReadStrategy {
  return new SelectedReadStrategy({
    preliminaryReplies:
      requested === 'none' ? undefined : { isRequired: requested === 'required', open },
    options: settings,
    connect: () => Promise.resolve({ driver }),
  });
}

/** What a read fails with that wants both views. */
function errorOf(strategy: ReadStrategy): Promise<unknown> {
  const nothing = (): void => {};
  const views = {
    deliverPreliminary: nothing,
    failPreliminary: nothing,
    confirm: nothing,
    deliverFinal: nothing,
  };
  const request = { consistency: 'QUORUM', preliminaryConsistency: 'ONE' } as const;
  return new Promise((fail) =>
    strategy.read({ cql: '', params: [], pageSize: 1 }, request, { ...views, fail }),
  );
}

const correctable: ReadStrategy = { read: () => {}, close: async () => {} };
const found: PreliminaryReplies['open'] = () => Promise.resolve(correctable);
const ordinary: PreliminaryReplies['open'] = () => Promise.resolve(undefined);

test.each([
  ['optional', 'gives preliminary replies', found, true],
  ['optional', 'is an ordinary one', ordinary, false],
  ['none', 'gives preliminary replies', found, false],
  ['required', 'gives preliminary replies', found, true],
] as const)(
  'preliminary replies: %s, the coordinator %s → chosen once',
  async (requested, _, open, isCorrectable) => {
    const path = chooser(requested, open);
    expect(path.hasPreliminaryReplies).toBeUndefined();
    expect(await path.selectStrategy()).toBe(isCorrectable ? correctable : driverReads);
    expect(path.hasPreliminaryReplies).toBe(isCorrectable);
  },
);

test('way: closed while the coordinator is looked at → what was opened is closed as well', async () => {
  let opened: (path: ReadStrategy) => void = () => {};
  let closed = 0;
  const path = chooser('optional', () => new Promise((resolve) => (opened = resolve)));
  const chosen = path.selectStrategy();
  await Promise.resolve();
  const closing = path.close();
  await Promise.resolve();
  opened({ read: () => {}, close: async () => void (closed += 1) });
  await Promise.all([chosen, closing]);
  expect(closed).toBe(1);
});

test('preliminary replies: required, the coordinator is an ordinary one → UNSUPPORTED, reads fail', async () => {
  const path = chooser('required', ordinary);
  await expect(path.selectStrategy()).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    field: 'preliminaryReplies',
  });
  expect(await errorOf(path)).toMatchObject({ code: 'UNSUPPORTED' });
});

test('preliminary replies: optional, the coordinator cannot be looked at → two reads for now, not for ever', async () => {
  let looks = 0;
  const path = chooser('optional', () => {
    looks += 1;
    return Promise.reject(new Error('away'));
  });
  expect(await path.selectStrategy()).toBe(driverReads);
  expect(path.hasPreliminaryReplies).toBeUndefined();
  expect(await path.selectStrategy()).toBe(driverReads);
  expect(looks).toBe(1);
});

test('preliminary replies: optional, the coordinator does not answer → reads use two requests at once; pauses between attempts grow', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const looks: ((error: Error) => void)[] = [];
  const path = chooser('optional', () => new Promise((_, reject) => looks.push(reject)));
  for (const pauseMs of [1_000, 2_000, 4_000]) {
    const before = looks.length;
    // The plain path of these tests returns no more than this.
    for (let n = 0; n < 3; n += 1) expect(await errorOf(path)).toMatchObject({ message: 'plain' });
    await expect.poll(() => looks.length).toBe(before + 1);
    looks.at(-1)?.(new Error('away'));
    await new Promise((resolve) => setTimeout(resolve, 1));
    vi.advanceTimersByTime(pauseMs - 1);
    await errorOf(path);
    expect(looks).toHaveLength(before + 1);
    vi.advanceTimersByTime(1);
  }
  expect(path.hasPreliminaryReplies).toBeUndefined();
  vi.useRealTimers();
});

test('entry: bundled → nothing from node_modules, the driver is looked for when it is needed', async () => {
  const { metafile, outputFiles } = await build({
    entryPoints: ['src/bindings/cassandra/index.ts'],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
  });
  expect(
    Object.keys(metafile.inputs).filter(
      (path) => !/^src\/(bindings\/(cassandra|shared)|correctable|values)\//.test(path),
    ),
  ).toEqual([]);
  expect(outputFiles[0]?.text).not.toMatch(/(from|import\(|require\()\s*["']cassandra-driver/);
});
