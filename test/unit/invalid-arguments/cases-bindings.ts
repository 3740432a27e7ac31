/**
 * Mistakes with bindings in process, in front of others and over a wire, and with contracts and
 * observables.
 */
import { Observable } from 'rxjs';
import * as z from 'zod';
import * as three from 'zod/v3';
import { binding, contract, type Mistake, type Mistakes } from './untyped.ts';

const url = 'ws://127.0.0.1:7420/ireland';
const levels = ['weak', 'strong'];
const spec = { access: 'read', args: z.object({}), result: z.unknown() };
class Socket {}
const client = { call: () => {}, evalshaBuffer: () => {}, evalBuffer: () => {}, nodes: () => [] };
const aside = { get: () => null, set: () => {}, delete: () => {}, ttlMs: 1_000, origin: () => 1 };
const redis = { name: 'shop', site: 'dublin', sites: { dublin: { nodes: ['127.0.0.1:6379'] } } };

const ofContracts: Mistakes = {
  defineContract: {
    shows: "defineContract('shop', {",
    whole: [
      ['nothing', 'name', (f) => f()],
      ['arguments swapped', 'name', (f) => f({ get: spec }, 'shop')],
      ['operations without a name', 'name', (f) => f({ get: spec })],
      ['a name without operations', 'operations', (f) => f('shop')],
      ['a list of operations', 'operations', (f) => f('shop', [])],
    ],
    parts: [
      ['an operation that is a schema', 'operations.get', (f) => f('shop', { get: 'read' })],
      [
        'an operation without an access',
        'operations.get.access',
        (f) => f('shop', { get: { ...spec, access: undefined } }),
      ],
      [
        'an access that is none',
        'operations.get.access',
        (f) => f('shop', { get: { ...spec, access: 'update' } }),
      ],
      [
        'arguments that are no schema',
        'operations.get.args',
        (f) => f('shop', { get: { ...spec, args: { key: 'string' } } }),
      ],
      [
        'arguments by a schema of zod 3',
        'operations.get.args',
        (f) => f('shop', { get: { ...spec, args: three.object({}) } }),
      ],
      [
        'a result that is no schema',
        'operations.get.result',
        (f) => f('shop', { get: { ...spec, result: String } }),
      ],
      [
        'no result',
        'operations.get.result',
        (f) => f('shop', { get: { access: 'read', args: spec.args } }),
      ],
      [
        'errors that are a list',
        'operations.get.errors',
        (f) => f('shop', { get: { ...spec, errors: ['none'] } }),
      ],
      [
        'an error without a schema',
        'operations.get.errors.none',
        (f) => f('shop', { get: { ...spec, errors: { none: {} } } }),
      ],
      ['a key that is a name', 'key', (f) => f('shop', { get: { ...spec, key: 'queue' } })],
      [
        'a color that is misspelt',
        'operations.get.colour',
        (f) => f('shop', { get: { ...spec, colour: 'red' } }),
      ],
    ],
  },
  operation: {
    shows: "operation({ access: 'read'",
    whole: [
      ['nothing', 'spec', (f) => f()],
      ['an access', 'spec', (f) => f('read', spec.args)],
    ],
    parts: [['no access', 'spec.access', (f) => f({ args: spec.args, result: spec.result })]],
  },
  parseArgs: {
    shows: 'parseArgs(contract, operation)',
    whole: [
      ['nothing', 'contract', (f) => f()],
      [
        'arguments swapped',
        'contract',
        (f) => f({ name: 'get', args: {}, access: 'read' }, contract()),
      ],
    ],
    parts: [
      ['a contract without an operation', 'operation', (f) => f(contract())],
      ['the name of an operation', 'operation', (f) => f(contract(), 'get')],
    ],
  },
  createHandler: {
    shows: 'createHandler(contract, {',
    whole: [
      ['nothing', 'contract', (f) => f()],
      ['arguments swapped', 'contract', (f) => f({ get: () => 1 }, contract())],
      ['a contract without handlers', 'handlers', (f) => f(contract())],
      ['one handler for all', 'handlers', (f) => f(contract(), () => 1)],
    ],
    parts: [
      ['a handler of no operation', 'handlers.gett', (f) => f(contract(), { gett: () => 1 })],
      ['a handler that is a value', 'handlers.get', (f) => f(contract(), { get: 1 })],
      ['a value for what is left', 'otherwise', (f) => f(contract(), { get: () => 1 }, 1)],
      [
        'a misspelt option',
        'checkResults',
        (f) => f(contract(), {}, undefined, { checkResults: false }),
      ],
    ],
  },
  isDomainError: 'accepts any value, and returns false for unknown ones',
};

/**
 * What is wrong with one option of a connection, whichever binding it is for. More:
 * test/unit/transport/options.
 */
const badOptions: readonly (readonly [what: string, field: string, options: object])[] = [
  ['no url', 'url', { WebSocket: Socket }],
  ['a WebSocket that is a module', 'WebSocket', { url, WebSocket: { WebSocket: Socket } }],
  ['a policy that is switched off', 'reconnect', { url, WebSocket: Socket, reconnect: false }],
  [
    'a time that is a text',
    'heartbeatIntervalMs',
    { url, WebSocket: Socket, heartbeatIntervalMs: '15s' },
  ],
  ['an option that is misspelt', 'principle', { url, WebSocket: Socket, principle: 'ann' }],
];

export const callsOfBindings: Readonly<Record<string, Mistakes>> = {
  './contract': ofContracts,
  './bindings/causal': {
    createCausalStore: {
      shows: "createCausalStore({ sites: ['dublin', 'oregon'] })",
      whole: [
        ['nothing', 'options', (f) => f()],
        ['a list of sites', 'options', (f) => f(['dublin'])],
      ],
      parts: [
        ['no sites', 'sites', (f) => f({})],
        ['a site that is no text', 'sites', (f) => f({ sites: [1] })],
        ['partitions as text', 'partitions', (f) => f({ sites: ['dublin'], partitions: '2' })],
        [
          'a latency that is a number',
          'latency',
          (f) => f({ sites: ['dublin', 'oregon'], latency: 80 }),
        ],
        ['a clock that is a function', 'clock', (f) => f({ sites: ['dublin'], clock: Date.now })],
        [
          'a time that is text',
          'siteTimeoutMs',
          (f) => f({ sites: ['dublin'], siteTimeoutMs: '5' }),
        ],
        ['a misspelt option', 'partition', (f) => f({ sites: ['dublin'], partition: 2 })],
      ],
    },
  },
  './bindings/http': {
    http: {
      shows: "http(contract, { url: '/api', levels: ['replica', 'primary'] })",
      whole: [
        ['nothing', 'contract', (f) => f()],
        ['no options', 'options', (f) => f(contract())],
      ],
      parts: [
        ['no address', 'url', (f) => f(contract(), { levels: ['weak'] })],
        ['no levels', 'levels', (f) => f(contract(), { url: '/api' })],
        ['a level twice', 'levels', (f) => f(contract(), { url: '/api', levels: ['a', 'a'] })],
        [
          'headers that are no function',
          'headers',
          (f) => f(contract(), { url: '/api', levels: ['a'], headers: {} }),
        ],
        [
          'another method',
          'readMethod',
          (f) => f(contract(), { url: '/api', levels: ['a'], readMethod: 'PUT' }),
        ],
        ['a misspelt option', 'uri', (f) => f(contract(), { uri: '/api', levels: ['a'] })],
      ],
    },
  },
  './bindings/causal-redis': {
    causalRedis: {
      shows:
        "causalRedis({ name: 'shop', site: 'dublin', sites: { dublin: redisDublin, oregon: redisOregon } })",
      whole: [
        ['nothing', 'options', (f) => f()],
        ['an address', 'options', (f) => f('10.0.0.1:6379')],
      ],
      parts: [
        ['no name', 'name', (f) => f({ ...redis, name: undefined })],
        ['a name with a brace', 'name', (f) => f({ ...redis, name: 'a}b' })],
        ['a site that is not one of the sites', 'site', (f) => f({ ...redis, site: 'paris' })],
        ['sites as a list', 'sites', (f) => f({ ...redis, sites: ['dublin'] })],
        [
          'a site that is an address',
          'sites.dublin',
          (f) => f({ ...redis, sites: { dublin: 'a:1' } }),
        ],
        [
          'no nodes',
          'sites.dublin.nodes',
          (f) => f({ ...redis, sites: { dublin: { nodes: [] } } }),
        ],
        [
          'a node that is a number',
          'sites.dublin.nodes[0]',
          (f) => f({ ...redis, sites: { dublin: { nodes: [1] } } }),
        ],
        [
          'options of ioredis as text',
          'sites.dublin.redisOptions',
          (f) => f({ ...redis, sites: { dublin: { nodes: ['a'], redisOptions: 'tls' } } }),
        ],
        [
          'a Cluster with enableAutoPipelining',
          'sites.dublin',
          (f) =>
            f({
              ...redis,
              sites: { dublin: { ...client, options: { enableAutoPipelining: true } } },
            }),
        ],
        ['a short key', 'tokenKey', (f) => f({ ...redis, tokenKey: 'secret' })],
        ['a time that is text', 'siteTimeoutMs', (f) => f({ ...redis, siteTimeoutMs: '5' })],
        ['a size below one', 'maxValueBytes', (f) => f({ ...redis, maxValueBytes: 0 })],
        ['a list of handlers', 'onAlarm', (f) => f({ ...redis, onAlarm: [] })],
        ['a misspelt option', 'tokenkey', (f) => f({ ...redis, tokenkey: 'x' })],
      ],
    },
    createCausalDeployment: {
      shows:
        "createCausalDeployment({ name: 'shop', site: 'dublin', sites: { dublin: redisDublin, oregon: redisOregon } })",
      whole: [['nothing', 'options', (f) => f()]],
      parts: [
        ['partitions as text', 'partitions', (f) => f({ ...redis, partitions: '8' })],
        ['too many partitions', 'partitions', (f) => f({ ...redis, partitions: 16_385 })],
        ['no site', 'site', (f) => f({ ...redis, site: undefined })],
        ['a misspelt option', 'partition', (f) => f({ ...redis, partition: 8 })],
      ],
    },
  },
  './bindings/memory': {
    memory: {
      shows: 'memory({ delaysMs: { weak: 5, strong: 80 } })',
      whole: [
        ['a number', 'options', (f) => f(5)],
        ['one delay for all levels', 'delaysMs', (f) => f({ delaysMs: 5 })],
        ['an option that is misspelt', 'delayMs', (f) => f({ delayMs: { weak: 5 } })],
      ],
      parts: [
        ['a delay of no level', 'delaysMs.week', (f) => f({ delaysMs: { week: 5 } })],
        ['a delay that is a text', 'delaysMs.weak', (f) => f({ delaysMs: { weak: '5' } })],
        ['a delay below 0', 'lagMs', (f) => f({ lagMs: -1 })],
        ['a delay without end', 'lagMs', (f) => f({ lagMs: Infinity })],
        ['levels without a list', 'levels', (f) => f({ levels: 'weak' })],
        ['no levels', 'levels', (f) => f({ levels: [] })],
        ['a store of its own', 'store', (f) => f({ store: new Map() })],
        ['a clock that is none', 'clock', (f) => f({ clock: Date })],
      ],
    },
    memoryStore: 'takes no arguments',
  },
  './bindings/tiered': {
    tiered: {
      shows: "tiered(['cache', 'origin'], {",
      whole: [
        ['nothing', 'levels', (f) => f()],
        ['one object of functions', 'levels', (f) => f({ weak: () => 1, strong: () => 1 })],
        ['a name without a list', 'levels', (f) => f('weak', { weak: () => 1 })],
        ['names without functions', 'tiers', (f) => f(levels)],
        ['a list of functions', 'tiers', (f) => f(levels, [() => 1, () => 1])],
        [
          'a mode in the place of the options',
          'options',
          (f) => f(levels, { weak: () => 1 }, 'sequential'),
        ],
        [
          'an option that is misspelt',
          'modes',
          (f) => f(levels, { weak: () => 1, strong: () => 1 }, { modes: 'x' }),
        ],
      ],
      parts: [
        ['a level without a function', 'tiers.strong', (f) => f(levels, { weak: () => 1 })],
        [
          'a level that objects have a function for',
          'tiers.toString',
          (f) => f(['toString', 'a'], { a: () => 1 }),
        ],
        [
          'a function of no level',
          'tiers.week',
          (f) => f(['strong'], { strong: () => 1, week: () => 1 }),
        ],
        ['a level twice', 'levels', (f) => f(['weak', 'weak'], { weak: () => 1 })],
        ['an unknown mode', 'mode', (f) => f(['a'], { a: () => 1 }, { mode: 'fast' })],
        [
          'a logger in place of its function',
          'onError',
          (f) => f(['a'], { a: () => 1 }, { onError: {} }),
        ],
        ['sessions that are none', 'sessions', (f) => f(['a'], { a: () => 1 }, { sessions: true })],
        [
          'a time in place of a function',
          'freshEnough',
          (f) => f(['a'], { a: () => 1 }, { freshEnough: 500 }),
        ],
      ],
    },
    versionSessions: {
      shows: "versionSessions({ per: 'key' })",
      whole: [
        ['a scope', 'options', (f) => f('key')],
        ['an option that is misspelt', 'pre', (f) => f({ pre: 'key' })],
      ],
      parts: [
        ['an unknown scope', 'per', (f) => f({ per: 'row' })],
        ['a key in place of tokens', 'tokens', (f) => f({ tokens: 'a secret of all processes' })],
        ['an order that is no function', 'reached', (f) => f({ reached: 'number' })],
      ],
    },
    cacheAside: {
      shows: 'cacheAside({ get, set, delete: remove, ttlMs: 60_000, origin: readOrigin })',
      whole: [
        ['nothing', 'options', (f) => f()],
        ['a client', 'options', (f) => f(() => {})],
        ['an option that is misspelt', 'ttl', (f) => f({ ...aside, ttl: 5 })],
      ],
      parts: [
        ['no function that removes', 'delete', (f) => f({ ...aside, delete: undefined })],
        ['no origin', 'origin', (f) => f({ ...aside, origin: undefined })],
        ['no time to live', 'ttlMs', (f) => f({ ...aside, ttlMs: undefined })],
        ['a time to live without end', 'ttlMs', (f) => f({ ...aside, ttlMs: Infinity })],
        ['no time to wait', 'timeoutMs', (f) => f({ ...aside, timeoutMs: 0 })],
        ['a list of keys', 'touches', (f) => f({ ...aside, touches: ['a'] })],
      ],
    },
    getLagMs: {
      shows: 'getLagMs(view)',
      whole: [['nothing', 'view', (f) => f()]],
      parts: [],
    },
    withDetails: {
      shows: 'withDetails(value, { version: 7 })',
      whole: [['a version', 'details', (f) => f(1, 7)]],
      parts: [],
    },
  },
  './bindings/tiered/node': {
    signedTokens: {
      shows: "signedTokens({ tokenKey: 'a secret of all processes' })",
      whole: [['a key', 'options', (f) => f('a secret of all processes')]],
      parts: [['a short key', 'tokenKey', (f) => f({ tokenKey: 'secret' })]],
    },
  },
  './bindings/cache': {
    cached: {
      shows: 'cached(memory(), { principal: user.id })',
      whole: [
        ['nothing', 'binding', (f) => f()],
        ['arguments swapped', 'binding', (f) => f({ principal: 'ada' }, binding())],
        ['a name for the options', 'options', (f) => f(binding(), 'ada')],
        ['an option that is misspelt', 'entriesMax', (f) => f(binding(), { entriesMax: 5 })],
      ],
      parts: [
        ['a principal that is a number', 'principal', (f) => f(binding(), { principal: 7 })],
        [
          'one level without a list',
          'committedLevels',
          (f) => f(binding(), { committedLevels: 'strong' }),
        ],
        [
          'a level that the binding does not have',
          'committedLevels',
          (f) => f(binding(), { committedLevels: ['causal'] }),
        ],
        ['a store that is a map', 'store', (f) => f(binding(), { store: new Map() })],
        ['half an entry', 'maxEntries', (f) => f(binding(), { maxEntries: 0.5 })],
        ['an age below zero', 'ttlMs', (f) => f(binding(), { ttlMs: -1 })],
        ['a clock that is a function', 'clock', (f) => f(binding(), { clock: Date.now })],
        ['an unknown value', 'onMiss', (f) => f(binding(), { onMiss: 'throw' })],
        [
          'a list of what is cacheable',
          'isCacheable',
          (f) => f(binding(), { isCacheable: ['get'] }),
        ],
      ],
    },
    indexedDbStore: {
      shows: "indexedDbStore({ name: 'shop' })",
      whole: [
        ['nothing', 'options', (f) => f()],
        ['a name', 'options', (f) => f('shop')],
        ['no name', 'name', (f) => f({})],
      ],
      parts: [],
    },
    mapStore: 'takes no arguments',
  },
  './bindings/cache/node': {
    directoryStore: {
      shows: "directoryStore({ directory: './cache' })",
      whole: [
        ['nothing', 'options', (f) => f()],
        ['a path', 'options', (f) => f('./cache')],
        ['another name of the directory', 'directory', (f) => f({ path: './cache' })],
      ],
      parts: [],
    },
  },
  './bindings/remote': {
    exponentialBackoff: {
      shows: 'initialDelayMs',
      whole: [
        ['a number', 'options', (f) => f(100)],
        ['an option that is misspelt', 'max', (f) => f({ max: 1000 })],
        ['a text for a time', 'initialDelayMs', (f) => f({ initialDelayMs: '100' })],
      ],
      parts: [],
    },
    findSites: {
      shows: "findSites('http://127.0.0.1:7070'",
      whole: [['a number for the options', 'options', (f) => f('http://127.0.0.1:1', 500)]],
      parts: [
        ['nothing', 'directory', (f) => f()],
        ['a websocket address', 'directory', (f) => f(url)],
        ['a time that is a text', 'timeoutMs', (f) => f('http://127.0.0.1:1', { timeoutMs: '5' })],
        ['no time', 'timeoutMs', (f) => f('http://127.0.0.1:1', { timeoutMs: 0 })],
        ['a fetch that is none', 'fetch', (f) => f('http://127.0.0.1:1', { fetch: true })],
        ['a clock that is none', 'now', (f) => f('http://127.0.0.1:1', { now: 5 })],
        ['an option that is misspelt', 'timeout', (f) => f('http://127.0.0.1:1', { timeout: 500 })],
      ],
    },
    remote: {
      shows: 'remote({ url, levels })',
      whole: [
        ['nothing', 'options', (f) => f()],
        ['an address', 'options', (f) => f(url, { levels })],
      ],
      parts: [
        ...badOptions.map(([description, field, options]): Mistake => [
          description,
          field,
          (f) => f({ levels, ...options }),
        ]),
        ['no levels', 'levels', (f) => f({ url, WebSocket: Socket })],
        ['levels without a list', 'levels', (f) => f({ url, WebSocket: Socket, levels: 'weak' })],
        ['a level that is a number', 'levels', (f) => f({ url, WebSocket: Socket, levels: [1] })],
        [
          'the name of a contract',
          'contract',
          (f) => f({ url, WebSocket: Socket, levels, contract: 'shop' }),
        ],
      ],
    },
  },
  './bindings/redblue': {
    exponentialBackoff: 'is that of ./bindings/remote',
    findSites: 'is that of ./bindings/remote',
    redblue: {
      shows: "redblue(contract, { url: 'ws://127.0.0.1:7070/ireland' })",
      whole: [
        ['nothing', 'contract', (f) => f()],
        ['arguments swapped', 'contract', (f) => f(url, contract())],
        ['the name of a contract', 'contract', (f) => f('shop', { url })],
        ['a contract without options', 'options', (f) => f(contract())],
        ['an address for the options', 'options', (f) => f(contract(), url)],
      ],
      parts: badOptions.map(([description, field, options]): Mistake => [
        description,
        field,
        (f) => f(contract(), options),
      ]),
    },
  },
  './rxjs': {
    fromObservable: {
      shows: "fromObservable(['partial', 'complete'], search$)",
      whole: [
        ['levels without an observable', 'observable', (f) => f(levels)],
        ['a promise', 'observable', (f) => f(levels, Promise.resolve(1))],
        ['arguments swapped', 'observable', (f) => f(new Observable(), levels)],
      ],
      parts: [
        ['levels without a list', 'levels', (f) => f('weak', new Observable())],
        ['a function for the options', 'options', (f) => f(levels, new Observable(), () => 1)],
        [
          'an option that is misspelt',
          'timeout',
          (f) => f(levels, new Observable(), { timeout: 5 }),
        ],
        ['a level for the view', 'view', (f) => f(levels, new Observable(), { view: 'weak' })],
      ],
    },
    toObservable: {
      shows: "toObservable(store.invoke(get('news')))",
      whole: [
        ['nothing', 'source', (f) => f()],
        ['a promise', 'source', (f) => f(Promise.resolve(1))],
        ['an observable', 'source', (f) => f(new Observable())],
      ],
      parts: [],
    },
    atLeast: {
      shows: "atLeast(store.levels, 'causal')",
      whole: [
        ['nothing', 'levels', (f) => f()],
        ['a level without levels', 'levels', (f) => f('strong')],
      ],
      parts: [],
    },
    finalOnly: 'takes no arguments',
    values: 'takes no arguments',
  },
};
