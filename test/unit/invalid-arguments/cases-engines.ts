/** Mistakes with the bindings to real engines. */
import * as z from 'zod';
import { contract, type Mistakes } from './untyped.ts';

const ring = { contactPoints: ['127.0.0.1:9042'], keyspace: 'shop' };
const servers = '127.0.0.1:2181';
const spec = {
  access: 'write',
  cql: 'INSERT INTO t (k) VALUES (:k)',
  args: z.object({ k: z.string() }),
};
const sqlSpec = { access: 'write', sql: 'insert into t (k) values (:k)', args: spec.args };
const primary = 'postgres://127.0.0.1/shop';
const method = (): void => {};
const pgPool = { connect: method, query: method, end: method, options: { max: 10 } };
const replicatedStore = {
  name: 'mine',
  replicas: [],
  supports: method,
  read: method,
  write: method,
  reached: method,
  close: method,
};

export const callsOfEngines: Readonly<Record<string, Mistakes>> = {
  './research/cassandra-icg': {
    preliminaryReplies: {
      shows: 'must be an object {required:boolean}',
      whole: [['a text', 'options', (f) => f('required')]],
      parts: [
        ['an option that is misspelt', 'require', (f) => f({ require: true })],
        ['a text for a switch', 'required', (f) => f({ required: 'yes' })],
      ],
    },
  },
  './bindings/cassandra': {
    cassandra: {
      shows: "cassandra({ contactPoints: ['127.0.0.1:9042'], keyspace: 'shop' })",
      whole: [
        ['nothing', 'options', (f) => f()],
        ['an address', 'options', (f) => f('127.0.0.1:9042')],
        [
          'the name of the driver for an option',
          'localDataCenter',
          (f) => f({ ...ring, localDataCenter: 'dc1' }),
        ],
        [
          'an option that is misspelt',
          'contactPoint',
          (f) => f({ contactPoint: '127.0.0.1', keyspace: 'shop' }),
        ],
      ],
      parts: [
        [
          'one address without a list',
          'contactPoints',
          (f) => f({ ...ring, contactPoints: '127.0.0.1' }),
        ],
        [
          'an address that is a number',
          'contactPoints[0]',
          (f) => f({ ...ring, contactPoints: [9042] }),
        ],
        ['no keyspace', 'keyspace', (f) => f({ contactPoints: ring.contactPoints })],
        ['an unknown level', 'read', (f) => f({ ...ring, read: 'strong' })],
        [
          'statements that are texts',
          'statements',
          (f) => f({ ...ring, statements: ['SELECT 1'] }),
        ],
        ['statements that are null', 'statements', (f) => f({ ...ring, statements: null })],
        ['a codec by name', 'codec', (f) => f({ ...ring, codec: 'json' })],
        ['a password alone', 'credentials', (f) => f({ ...ring, credentials: 'secret' })],
        [
          'credentials of another kind',
          'credentials',
          (f) => f({ ...ring, credentials: { user: 'a', password: 'b' } }),
        ],
        ['tls that is switched on', 'tls', (f) => f({ ...ring, tls: true })],
        ['a driver by name', 'driver', (f) => f({ ...ring, driver: 'cassandra-driver' })],
        ['a table of addresses', 'translateAddress', (f) => f({ ...ring, translateAddress: {} })],
        ['a text for a switch', 'createTable', (f) => f({ ...ring, createTable: 'yes' })],
        [
          'a time that is a text',
          'requestTimeoutMs',
          (f) => f({ ...ring, requestTimeoutMs: '5s' }),
        ],
        [
          'replies by name',
          'preliminaryReplies',
          (f) => f({ ...ring, preliminaryReplies: 'auto' }),
        ],
      ],
    },
    getKeyValueTableCql: {
      shows: "getKeyValueTableCql({ keyspace: 'shop' })",
      whole: [
        ['nothing', 'options', (f) => f()],
        ['a name', 'options', (f) => f('shop')],
      ],
      parts: [['no keyspace', 'keyspace', (f) => f({ table: 't' })]],
    },
    oneRow: {
      shows: "oneRow((row) => row['name'], { version: 'written' })",
      whole: [
        ['nothing', 'mapper', (f) => f()],
        ['the name of a column', 'mapper', (f) => f('name')],
        ['a column for the options', 'options', (f) => f(() => 1, 'written')],
      ],
      parts: [],
    },
    rows: {
      shows: "rows((row) => row['name'], { max: 40 })",
      whole: [
        ['nothing', 'mapper', (f) => f()],
        ['a number for the options', 'options', (f) => f(() => 1, 40)],
        ['an option that is misspelt', 'limit', (f) => f(() => 1, { limit: 40 })],
      ],
      parts: [['half a row', 'max', (f) => f(() => 1, { max: 0.5 })]],
    },
    page: {
      shows: "page((row) => row['name'], { size: 20 })",
      whole: [
        ['options without a mapper', 'mapper', (f) => f({ size: 20 })],
        ['a number for the options', 'options', (f) => f(() => 1, 20)],
      ],
      parts: [],
    },
    wasApplied: 'takes no arguments',
    noResult: 'takes no arguments',
    statement: {
      shows: "{ access: 'read', cql: 'SELECT …'",
      whole: [
        ['nothing', 'spec', (f) => f()],
        ['the text alone', 'spec', (f) => f('SELECT 1')],
      ],
      parts: [['no schema', 'spec.args', (f) => f({ ...spec, args: ['k'] })]],
    },
    defineStatements: {
      shows: "defineStatements({ profile: { access: 'read'",
      whole: [
        ['nothing', 'statements', (f) => f()],
        ['a list', 'statements', (f) => f([spec])],
      ],
      parts: [
        ['a text', 'add', (f) => f({ add: spec.cql })],
        ['no text', 'add.cql', (f) => f({ add: { ...spec, cql: undefined } })],
        ['no access', 'add.access', (f) => f({ add: { ...spec, access: 'update' } })],
        ['no schema', 'add.args', (f) => f({ add: { ...spec, args: undefined } })],
        [
          'a result that is a mapper',
          'add.result',
          (f) => f({ add: { ...spec, result: () => 1 } }),
        ],
        ['parameters in a list', 'params', (f) => f({ add: { ...spec, params: ['k'] } })],
        ['a field that is misspelt', 'add.query', (f) => f({ add: { ...spec, query: spec.cql } })],
      ],
    },
    implementStatements: {
      shows: 'implementStatements(contract, { profile: { cql, result } })',
      whole: [
        ['nothing', 'contract', (f) => f()],
        ['arguments swapped', 'contract', (f) => f({ add: spec }, contract())],
        ['a contract alone', 'implementations', (f) => f(contract())],
      ],
      parts: [
        [
          'an operation that the contract does not have',
          'add',
          (f) => f(contract(), { add: spec }),
        ],
      ],
    },
  },
  './bindings/replicas': {
    replicas: {
      shows: 'replicas(store, { tokenKey })',
      whole: [
        [
          'a key for the options',
          'options',
          (f) => f(replicatedStore, 'a secret of all processes'),
        ],
        ['an option that is misspelt', 'tokenkey', (f) => f(replicatedStore, { tokenkey: 'x' })],
      ],
      parts: [
        ['nothing', 'store', (f) => f()],
        ['a store without a method', 'store', (f) => f({ ...replicatedStore, reached: undefined })],
        ['a store without replicas', 'store', (f) => f({ ...replicatedStore, replicas: 2 })],
        ['a short key', 'tokenKey', (f) => f(replicatedStore, { tokenKey: 'secret' })],
        ['a list of handlers', 'onAlarm', (f) => f(replicatedStore, { onAlarm: [] })],
      ],
    },
    getLagMs: {
      shows: 'getLagMs(view)',
      whole: [
        ['nothing', 'view', (f) => f()],
        ['a number', 'view', (f) => f(5)],
      ],
      parts: [],
    },
  },
  './bindings/postgres': {
    postgres: {
      shows:
        "postgres({ primary: 'postgres://10.0.0.1/shop', replicas: ['postgres://10.0.0.2/shop'] })",
      whole: [
        ['nothing', 'options', (f) => f()],
        ['an address', 'options', (f) => f(primary)],
        ['an option that is misspelt', 'replica', (f) => f({ primary, replica: primary })],
        ['no primary', 'primary', (f) => f({ replicas: [primary] })],
        ['an empty primary', 'primary', (f) => f({ primary: '' })],
        ['one replica without a list', 'replicas', (f) => f({ primary, replicas: primary })],
        ['a replica that is a number', 'replicas[0]', (f) => f({ primary, replicas: [5432] })],
      ],
      parts: [
        ['a pool that does not pipeline', 'primary', (f) => f({ primary: pgPool })],
        ['a runner that is a text', 'primary.run', (f) => f({ primary: { run: 'select 1' } })],
        [
          'statements that are texts',
          'statements',
          (f) => f({ primary, statements: ['select 1'] }),
        ],
        ['a schema with a dot', 'schema', (f) => f({ primary, schema: 'a.b' })],
        ['a text for a switch', 'prepare', (f) => f({ primary, prepare: 'no' })],
        ['no dequeue at a time', 'maxInFlight', (f) => f({ primary, maxInFlight: 0 })],
        ['a time before now', 'minSlotIntervalMs', (f) => f({ primary, minSlotIntervalMs: -1 })],
        ['positions that are a function', 'positions', (f) => f({ primary, positions: () => 1 })],
        ['a driver by name', 'driver', (f) => f({ primary, driver: 'pg' })],
        ['a short key', 'tokenKey', (f) => f({ primary, tokenKey: 'secret' })],
        ['a list of handlers', 'onAlarm', (f) => f({ primary, onAlarm: [] })],
      ],
    },
    migrations: {
      shows: "migrations({ schema: 'public' })",
      whole: [['a schema', 'options', (f) => f('public')]],
      parts: [['a schema with a quote', 'schema', (f) => f({ schema: 'a"b' })]],
    },
    getLagMs: {
      shows: 'getLagMs(view)',
      whole: [['nothing', 'view', (f) => f()]],
      parts: [],
    },
    oneRow: {
      shows: "oneRow((row) => row['name'], { version: 'written' })",
      whole: [['the name of a column', 'mapper', (f) => f('name')]],
      parts: [],
    },
    rows: {
      shows: "rows((row) => row['name'], { max: 40 })",
      whole: [['a number for the options', 'options', (f) => f(() => 1, 40)]],
      parts: [['half a row', 'max', (f) => f(() => 1, { max: 0.5 })]],
    },
    wasApplied: 'takes no arguments',
    noResult: 'takes no arguments',
    statement: {
      shows: "{ access: 'read', sql: 'select …'",
      whole: [['the text alone', 'spec', (f) => f('select 1')]],
      parts: [
        ['no schema', 'spec.args', (f) => f({ ...sqlSpec, args: ['k'] })],
        ['the text of another store', 'spec.cql', (f) => f({ ...spec })],
      ],
    },
    defineStatements: {
      shows: "defineStatements({ profile: { access: 'read'",
      whole: [['a list', 'statements', (f) => f([sqlSpec])]],
      parts: [
        ['no text', 'add.sql', (f) => f({ add: { ...sqlSpec, sql: undefined } })],
        [
          'a read without a result',
          'add.result',
          (f) => f({ add: { ...sqlSpec, access: 'read' } }),
        ],
        [
          'a marker without a name',
          'add.params',
          (f) => f({ add: { ...sqlSpec, sql: 'delete from t where k = $1' } }),
        ],
      ],
    },
    implementStatements: {
      shows: 'implementStatements(contract, { profile: { sql, result } })',
      whole: [['a contract alone', 'implementations', (f) => f(contract())]],
      parts: [
        [
          'an operation that the contract does not have',
          'add',
          (f) => f(contract(), { add: sqlSpec }),
        ],
      ],
    },
  },
  './bindings/d1': {
    d1: {
      shows: 'd1({ database: env.DB })',
      whole: [
        ['nothing', 'options', (f) => f()],
        ['the database alone', 'withSession', (f) => f({ withSession: method })],
        ['no database', 'database', (f) => f({})],
        ['the name of a database', 'database', (f) => f({ database: 'DB' })],
      ],
      parts: [
        [
          'statements that are texts',
          'statements',
          (f) => f({ database: { withSession: method }, statements: ['x'] }),
        ],
        [
          'a short key',
          'tokenKey',
          (f) => f({ database: { withSession: method }, tokenKey: 'secret' }),
        ],
        [
          'a list of handlers',
          'onAlarm',
          (f) => f({ database: { withSession: method }, onAlarm: [] }),
        ],
      ],
    },
    migrations: 'takes no arguments',
    getLagMs: {
      shows: 'getLagMs(view)',
      whole: [['nothing', 'view', (f) => f()]],
      parts: [],
    },
    oneRow: {
      shows: "oneRow((row) => row['name'], { version: 'written' })",
      whole: [['the name of a column', 'mapper', (f) => f('name')]],
      parts: [],
    },
    rows: {
      shows: "rows((row) => row['name'], { max: 40 })",
      whole: [['a number for the options', 'options', (f) => f(() => 1, 40)]],
      parts: [['half a row', 'max', (f) => f(() => 1, { max: 0.5 })]],
    },
    wasApplied: 'takes no arguments',
    noResult: 'takes no arguments',
    statement: {
      shows: "{ access: 'read', sql: 'select …'",
      whole: [['the text alone', 'spec', (f) => f('select 1')]],
      parts: [
        ['no schema', 'spec.args', (f) => f({ ...sqlSpec, args: ['k'] })],
        ['the text of another store', 'spec.cql', (f) => f({ ...spec })],
      ],
    },
    defineStatements: {
      shows: "defineStatements({ profile: { access: 'read'",
      whole: [['a list', 'statements', (f) => f([sqlSpec])]],
      parts: [
        ['no text', 'add.sql', (f) => f({ add: { ...sqlSpec, sql: undefined } })],
        [
          'a read without a result',
          'add.result',
          (f) => f({ add: { ...sqlSpec, access: 'read', sql: 'select 1' } }),
        ],
        [
          'a marker without a name',
          'add.params',
          (f) => f({ add: { ...sqlSpec, sql: 'delete from t where k = ?' } }),
        ],
        [
          'a read that changes data',
          'add.sql',
          (f) => f({ add: { ...sqlSpec, access: 'read', result: { buildResult: method } } }),
        ],
      ],
    },
    implementStatements: {
      shows: 'implementStatements(contract, { profile: { sql, result } })',
      whole: [['a contract alone', 'implementations', (f) => f(contract())]],
      parts: [
        [
          'an operation that the contract does not have',
          'add',
          (f) => f(contract(), { add: sqlSpec }),
        ],
      ],
    },
  },
  './bindings/valkey': {
    valkey: {
      shows: "valkey({ primary: '10.0.0.1:6379', replicas: ['10.0.0.2:6379'] })",
      whole: [
        ['nothing', 'options', (f) => f()],
        ['an address', 'options', (f) => f('127.0.0.1:6379')],
        ['no primary', 'primary', (f) => f({ replicas: ['a:1'] })],
        ['an empty primary', 'primary', (f) => f({ primary: '' })],
        ['an address that is none', 'primary', (f) => f({ primary: ':1' })],
        ['one replica without a list', 'replicas', (f) => f({ primary: 'a', replicas: 'b' })],
        ['a replica that is a number', 'replicas[0]', (f) => f({ primary: 'a', replicas: [6379] })],
        ['an option that is misspelt', 'replica', (f) => f({ primary: 'a', replica: 'b' })],
      ],
      parts: [
        ['a prefix that is a number', 'prefix', (f) => f({ primary: 'a', prefix: 1 })],
        ['half a replica', 'waitForReplicas', (f) => f({ primary: 'a', waitForReplicas: 0.5 })],
        ['a time without end', 'waitTimeoutMs', (f) => f({ primary: 'a', waitTimeoutMs: 0 })],
        [
          'options of ioredis as text',
          'redisOptions',
          (f) => f({ primary: 'a', redisOptions: 'tls' }),
        ],
        ['a short key', 'tokenKey', (f) => f({ primary: 'a', tokenKey: 'secret' })],
        ['a list of handlers', 'onAlarm', (f) => f({ primary: 'a', onAlarm: [] })],
      ],
    },
    getLagMs: {
      shows: 'getLagMs(view)',
      whole: [['nothing', 'view', (f) => f()]],
      parts: [],
    },
  },
  './bindings/zookeeper': {
    zookeeper: {
      shows: "zookeeper({ servers: '127.0.0.1:2181' })",
      whole: [
        ['nothing', 'options', (f) => f()],
        ['an address', 'options', (f) => f(servers)],
        ['no servers', 'servers', (f) => f({})],
        ['a list of servers', 'servers', (f) => f({ servers: [servers] })],
        ['an option that is misspelt', 'sessionTimeout', (f) => f({ servers, sessionTimeout: 5 })],
      ],
      parts: [
        ['an address that is none', 'servers', (f) => f({ servers: ':2181' })],
        ['a root that is no path', 'root', (f) => f({ servers, root: 'shop' })],
        [
          'a time that is a text',
          'sessionTimeoutMs',
          (f) => f({ servers, sessionTimeoutMs: '5s' }),
        ],
        ['no place', 'maxInFlight', (f) => f({ servers, maxInFlight: 0 })],
        [
          'a turn that is a text',
          'minSlotIntervalMs',
          (f) => f({ servers, minSlotIntervalMs: '5' }),
        ],
        [
          'a recovery that is switched on',
          'orphanRecovery',
          (f) => f({ servers, orphanRecovery: true }),
        ],
        [
          'a recovery without its guarantee',
          'orphanRecovery.delivery',
          (f) => f({ servers, orphanRecovery: { intervalMs: 5 } }),
        ],
        ['a codec by name', 'codec', (f) => f({ servers, codec: 'json' })],
        ['a password alone', 'auth', (f) => f({ servers, auth: 'user:password' })],
        [
          'a listener that is none',
          'onBackgroundError',
          (f) => f({ servers, onBackgroundError: 'log' }),
        ],
      ],
    },
    queueLength: {
      shows: 'give a string',
      whole: [['an object', 'queue', (f) => f({ queue: 'q' })]],
      parts: [],
    },
    computeMinThreshold: {
      shows: 'computeMinThreshold({ consumers: 4, maxInFlight: 5',
      whole: [
        ['nothing', 'options', (f) => f()],
        ['numbers without names', 'options', (f) => f(4, 5)],
        ['no maxInFlight', 'consumers', (f) => f({ consumers: 4 })],
        ['an option that is misspelt', 'consumer', (f) => f({ consumer: 4, maxInFlight: 5 })],
      ],
      parts: [['a text', 'maxInFlight', (f) => f({ consumers: 4, maxInFlight: '5' })]],
    },
    assertThreshold: {
      shows: 'assertThreshold(60, { consumers: 4',
      whole: [
        ['nothing', 'threshold', (f) => f()],
        ['arguments swapped', 'threshold', (f) => f({ consumers: 4, maxInFlight: 5 }, 20)],
      ],
      parts: [['a threshold alone', 'options', (f) => f(20)]],
    },
    ZooKeeper: {
      // The client below the binding has errors of its own, which are typed too.
      code: 'BAD_ARGUMENTS',
      shows: "new ZooKeeper('127.0.0.1:2181'",
      whole: [
        ['nothing', 'servers', (F) => new F()],
        ['a list of servers', 'servers', (F) => new F([servers])],
        ['a number for the options', 'options', (F) => new F(servers, 5000)],
      ],
      parts: [
        [
          'a time that is a text',
          'sessionTimeoutMs',
          (F) => new F(servers, { sessionTimeoutMs: '5s' }),
        ],
      ],
    },
    isZooKeeperError: 'takes anything',
    ZooKeeperError: 'is made by the client',
  },
};
