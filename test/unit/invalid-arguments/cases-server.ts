/** Mistakes with services, sites and gateways, and with what tests them. */
import * as z from 'zod';
import { defineContract } from '../../../src/contract/index.ts';
import { defineService } from '../../../src/server/index.ts';
import { binding, contract, type Mistakes, type MistakesWith, type Untyped } from './untyped.ts';

const parts = { tables: {}, shadowOperations: () => ({}), generators: { get: () => null } };
const field = { kind: 'counter' };

const service = () =>
  defineService(
    defineContract('wrong-calls', {
      get: { access: 'read', args: z.object({ key: z.string() }), result: z.unknown() },
    }),
    { tables: {}, shadowOperations: () => ({}), generators: { get: () => null } },
  );

/** A kind of field that has nothing to say of itself. */
const takesNone = (name: string): MistakesWith => ({
  shows: `${name}()`,
  whole: [
    ['options, as boundedCounter has them', 'options', (f) => f({ min: 5 })],
    ['a first value', 'options', (f) => f(5)],
  ],
  parts: [],
});

export const callsOfServer: Readonly<Record<string, Mistakes>> = {
  './server': {
    createEmbedded: {
      shows: "createEmbedded(service, { sites: ['ireland', 'frankfurt'] })",
      whole: [
        ['nothing', 'service', (f) => f()],
        [
          'one object, as serve has it',
          'service',
          (f) => f({ service: service(), sites: ['ireland'] }),
        ],
        ['arguments swapped', 'service', (f) => f({ sites: ['ireland'] }, service())],
        [
          'a contract in the place of its service',
          'service',
          (f) => f(contract(), { sites: ['ireland'] }),
        ],
        ['a service alone', 'options', (f) => f(service())],
        ['a list of sites', 'options', (f) => f(service(), ['ireland'])],
        [
          'an option that is misspelt',
          'dataFolder',
          (f) => f(service(), { sites: ['ireland'], dataFolder: './data' }),
        ],
      ],
      parts: [
        ['one site without a list', 'sites', (f) => f(service(), { sites: 'ireland' })],
        [
          'a leader that is no site',
          'redLeader',
          (f) => f(service(), { sites: ['ireland'], redLeader: 'frankfurt' }),
        ],
        [
          'a leader of a partition that is no site',
          'partitions.us.leader',
          (f) => f(service(), { sites: ['ireland'], partitions: { us: { leader: 'ohio' } } }),
        ],
        [
          'a bound of generators that is misspelt',
          'generators.steps',
          (f) => f(service(), { sites: ['ireland'], generators: { steps: 5 } }),
        ],
      ],
    },
    openEmbedded: {
      shows: "openEmbedded(service, { sites: ['ireland', 'frankfurt'], dataDir: 'data' })",
      whole: [
        ['nothing', 'service', (f) => f()],
        ['a service alone', 'options', (f) => f(service())],
        [
          'an option that is misspelt',
          'cache',
          (f) => f(service(), { sites: ['ireland'], dataDir: 'data', cache: 1 }),
        ],
      ],
      parts: [
        ['no sites', 'sites', (f) => f(service(), { dataDir: 'data' })],
        ['no directory', 'dataDir', (f) => f(service(), { sites: ['ireland'] })],
        [
          'a cache that is a text',
          'cacheBytes',
          (f) => f(service(), { sites: ['ireland'], dataDir: 'data', cacheBytes: '64m' }),
        ],
        [
          'a cache that leaves too little for the rest',
          'cacheBytes',
          (f) =>
            f(service(), {
              sites: ['ireland'],
              dataDir: 'data',
              memoryBytes: 1e9,
              cacheBytes: 9e8,
            }),
        ],
      ],
    },
    serve: {
      shows: "serve({ service, sites: ['ireland', 'frankfurt'] })",
      whole: [
        ['nothing', 'options', (f) => f()],
        ['a list', 'options', (f) => f([service()])],
        [
          'who may connect, misspelt',
          'authentication',
          (f) => f({ service: service(), sites: ['ireland'], authentication: () => {} }),
        ],
        [
          'a directory, misspelt',
          'dataFolder',
          (f) => f({ service: service(), sites: ['ireland'], dataFolder: './data' }),
        ],
        ['the parts of a service', 'contract', (f) => f(service(), { sites: ['ireland'] })],
        ['no service', 'service', (f) => f({ sites: ['ireland'] })],
      ],
      parts: [
        ['no sites', 'sites', (f) => f({ service: service() })],
        [
          'a partition without its leader',
          'partitions.us.leader',
          (f) => f({ service: service(), sites: ['ireland'], partitions: { us: {} } }),
        ],
        [
          'a port that is a text',
          'port',
          (f) => f({ service: service(), sites: ['ireland'], port: '7420' }),
        ],
        [
          'a text for a switch',
          'allowUnauthenticated',
          (f) => f({ service: service(), sites: ['ireland'], allowUnauthenticated: 'yes' }),
        ],
      ],
    },
    serveCluster: {
      shows: "serveCluster({ service, cluster: 'cluster.json', site: 'ireland', dataDir: 'data' })",
      whole: [
        ['nothing', 'options', (f) => f()],
        ['the path of a cluster file', 'options', (f) => f('cluster.json')],
        [
          'the sites, as serve has them',
          'sites',
          (f) => f({ service: service(), sites: ['ireland'] }),
        ],
        [
          'no service',
          'service',
          (f) => f({ cluster: 'cluster.json', site: 'ireland', dataDir: 'data' }),
        ],
      ],
      parts: [
        [
          'a cluster file that is not there',
          'cluster',
          (f) =>
            f({ service: service(), cluster: 'no-such.json', site: 'ireland', dataDir: 'data' }),
        ],
        [
          'no cluster file',
          'cluster',
          (f) => f({ service: service(), site: 'ireland', dataDir: 'data' }),
        ],
      ],
    },
    createGateway: {
      shows: 'createGateway({ binding: memory() })',
      whole: [
        ['nothing', 'options', (f) => f()],
        ['a binding without its name', 'binding', (f) => f(binding())],
        ['an object without a binding', 'binding', (f) => f({})],
        ['the function that makes the binding', 'binding', (f) => f({ binding })],
        ['who may connect, misspelt', 'auth', (f) => f({ binding: binding(), auth: () => {} })],
      ],
      parts: [
        [
          'an unknown limit',
          'limits.connections',
          (f) => f({ binding: binding(), limits: { connections: 5 } }),
        ],
      ],
    },
    listenGateways: {
      shows: 'listenGateways({ sites: { ireland: createGateway({ binding }) } })',
      whole: [
        ['nothing', 'options', (f) => f()],
        ['a port', 'options', (f) => f(7420)],
        [
          'a gateway without its site',
          'sites',
          (f, { createGateway }) => f(gatewayBy(createGateway)),
        ],
        [
          'a list of gateways',
          'sites',
          (f, { createGateway }) => f({ sites: [gatewayBy(createGateway)] }),
        ],
        ['an option that is misspelt', 'gateways', (f) => f({ gateways: {} })],
      ],
      parts: [],
    },
    getOneWayDelayMs: {
      shows: "getOneWayDelayMs({ 'ireland-frankfurt': 20 }, 'ireland', 'frankfurt')",
      whole: [
        ['nothing', 'latency', (f) => f()],
        ['two sites', 'latency', (f) => f('ireland', 'frankfurt')],
      ],
      parts: [['a pair that is not given', 'latency.a-b', (f) => f({}, 'a', 'b')]],
    },
    defineService: {
      shows: 'defineService(contract, { tables, shadowOperations',
      whole: [
        ['nothing', 'contract', (f) => f()],
        ['arguments swapped', 'contract', (f) => f(parts, contract())],
        ['a contract alone', 'implementation', (f) => f(contract())],
        ['a part that is misspelt', 'generator', (f) => f(contract(), { ...parts, generator: {} })],
      ],
      parts: [
        ['no tables', 'tables', (f) => f(contract(), { ...parts, tables: undefined })],
        [
          'a table that is not made',
          'tables.rows',
          (f) => f(contract(), { ...parts, tables: { rows: { n: field } } }),
        ],
        [
          'shadow operations that are no function',
          'shadowOperations',
          (f) => f(contract(), { ...parts, shadowOperations: {} }),
        ],
        [
          'shadow operations that give nothing',
          'shadowOperations',
          (f) => f(contract(), { ...parts, shadowOperations: () => {} }),
        ],
        [
          'one without a color',
          'shadowOperations.add',
          (f) => f(contract(), { ...parts, shadowOperations: () => ({ add: () => [] }) }),
        ],
        ['one color for all', 'colors', (f) => f(contract(), { ...parts, colors: 'red' })],
        [
          'a color of none',
          'colors.add',
          (f) => f(contract(), { ...parts, colors: { add: 'red' } }),
        ],
        [
          'a color that there is not',
          'colors.add',
          (f, { shadow }) =>
            f(contract(), {
              ...parts,
              shadowOperations: () => ({ add: (shadow as Untyped)(() => []) }),
              colors: { add: 'green' },
            }),
        ],
        ['no generators', 'generators', (f) => f(contract(), { ...parts, generators: undefined })],
        [
          'a generator that is missing',
          'generators.get',
          (f) => f(contract(), { ...parts, generators: {} }),
        ],
        [
          'a generator that is a value',
          'generators.get',
          (f) => f(contract(), { ...parts, generators: { get: 1 } }),
        ],
        [
          'one name without a list',
          'alwaysRed',
          (f) => f(contract(), { ...parts, alwaysRed: 'get' }),
        ],
      ],
    },
    table: {
      shows: 'table({ balance: counter() })',
      whole: [
        ['nothing', 'fields', (f) => f()],
        ['a name', 'fields', (f) => f('accounts', { balance: field })],
        ['a list', 'fields', (f) => f([field])],
      ],
      parts: [
        [
          'a function that was not called',
          'fields.balance',
          (f, { counter }) => f({ balance: counter }),
        ],
        ['a type by name', 'fields.balance', (f) => f({ balance: 'number' })],
        ['a name for the options', 'options', (f) => f({ balance: field }, 'balance')],
        [
          'one index without a list',
          'indexes',
          (f) => f({ owner: { kind: 'register' } }, { indexes: 'owner' }),
        ],
        ['an index of no field', 'indexes', (f) => f({ balance: field }, { indexes: ['owner'] })],
        ['a text for a switch', 'removable', (f) => f({ balance: field }, { removable: 'yes' })],
        [
          'a bounded field by hand, without its minimum',
          'fields.seats',
          (f) => f({ seats: { kind: 'bounded' } }),
        ],
        [
          'half a ticket by hand',
          'fields.seats',
          (f) => f({ seats: { kind: 'bounded', min: 0.5 } }),
        ],
        [
          'a minimum of another kind',
          'fields.seats',
          (f) => f({ seats: { kind: 'stock', min: 0 } }),
        ],
        [
          'an option that is misspelt',
          'index',
          (f) => f({ balance: field }, { index: ['balance'] }),
        ],
      ],
    },
    red: {
      shows: 'red(({ account, amount }) =>',
      whole: [
        ['nothing', 'effects', (f) => f()],
        ['a list of effects', 'effects', (f) => f([])],
        ['an object', 'effects', (f) => f({ effects: () => [] })],
      ],
      parts: [['a reply that is a value', 'reply', (f) => f(() => [], null)]],
    },
    blue: {
      shows: 'blue(({ account, amount }) =>',
      whole: [
        ['nothing', 'effects', (f) => f()],
        ['a list of effects', 'effects', (f) => f([])],
      ],
      parts: [
        [
          'a reply, as red has it',
          'reply',
          (f) =>
            f(
              () => [],
              () => null,
            ),
        ],
      ],
    },
    shadow: {
      shows: 'shadow(({ account, amount }) =>',
      whole: [
        ['nothing', 'effects', (f) => f()],
        ['a list of effects', 'effects', (f) => f([])],
      ],
      parts: [['a reply that is a value', 'reply', (f) => f(() => [], null)]],
    },
    withColors: {
      shows: "withColors(service, { withdraw: 'red' })",
      whole: [
        ['nothing', 'service', (f) => f()],
        ['a contract in the place of its service', 'service', (f) => f(contract(), {})],
      ],
      parts: [
        ['a service alone', 'colors', (f) => f(service())],
        ['one color for all', 'colors', (f) => f(service(), 'red')],
        ['a color of none', 'colors.add', (f) => f(service(), { add: 'red' })],
      ],
    },
    withPrincipal: {
      shows: "withPrincipal(deployment.site('ireland'), { id: 'ada' })",
      whole: [['nothing', 'binding', (f) => f()]],
      parts: [
        ['no principal', 'principal', (f) => f(binding())],
        ['the name alone', 'principal', (f) => f(binding(), 'ada')],
        ['an id that is a number', 'principal.id', (f) => f(binding(), { id: 5 })],
      ],
    },
    uncertified: 'takes any result; in a generator, whose results are held to the contract',
    withMeta: 'takes any result; in a generator, whose mistakes are the alarms of the site',
    boundedCounter: {
      shows: 'boundedCounter({ min: 0 })',
      whole: [
        ['nothing', 'options', (f) => f()],
        ['the minimum alone', 'options', (f) => f(0)],
        ['an option that is misspelt', 'least', (f) => f({ least: 0 })],
      ],
      parts: [
        ['no minimum', 'min', (f) => f({})],
        ['half a ticket', 'min', (f) => f({ min: 0.5 })],
        ['a minimum that is a text', 'min', (f) => f({ min: '0' })],
      ],
    },
    cell: takesNone('cell'),
    counter: takesNone('counter'),
    log: takesNone('log'),
    queue: takesNone('queue'),
    register: takesNone('register'),
    set: takesNone('set'),
    stock: takesNone('stock'),
  },
  './testing': {
    ConformanceError: 'is thrown by the contract suite',
    testBindingConformance: {
      shows: "testBindingConformance({ name: 'memory', createBinding",
      whole: [
        ['nothing', 'subject', (f) => f()],
        [
          'a binding',
          'subject',
          (f) => f(binding(), { describe: () => {}, test: () => {}, expect: () => {} }),
        ],
        [
          'no runner',
          'runner',
          (f) => f({ name: 'memory', createBinding: async () => ({ binding: binding() }) }),
        ],
      ],
      parts: [],
    },
    simulateService: {
      shows: 'simulateService(service, { draw',
      whole: [
        ['nothing', 'service', (f) => f()],
        ['a contract', 'service', (f) => f(contract(), { draw: () => {} })],
        ['a service alone', 'options', (f) => f(service())],
        ['a function for the options', 'options', (f) => f(service(), () => {})],
        ['an option that is misspelt', 'seeds', (f) => f(service(), { draw: () => {}, seeds: 5 })],
      ],
      parts: [
        [
          'a draw that is an operation',
          'draw',
          (f) => f(service(), { draw: contract().get({ key: 'k' }) }),
        ],
        ['half a run', 'runs', (f) => f(service(), { draw: () => {}, runs: 0.5 })],
        ['an unknown profile', 'profile', (f) => f(service(), { draw: () => {}, profile: 'wild' })],
        [
          'circumstances by number',
          'overrides',
          (f) => f(service(), { draw: () => {}, overrides: 5 }),
        ],
        [
          'one that there is not',
          'overrides.sites',
          (f) => f(service(), { draw: () => {}, overrides: { sites: 4 } }),
        ],
        [
          'one as a text',
          'overrides.siteCount',
          (f) => f(service(), { draw: () => {}, overrides: { siteCount: '4' } }),
        ],
      ],
    },
    analyzeColors: {
      shows: 'analyzeColors(service, { runs',
      whole: [
        ['nothing', 'service', (f) => f()],
        ['a contract', 'service', (f) => f(contract())],
        ['a number of runs', 'options', (f) => f(service(), 100)],
        ['an option that is misspelt', 'seeds', (f) => f(service(), { seeds: 5 })],
      ],
      parts: [
        ['half a run', 'runs', (f) => f(service(), { runs: 0.5 })],
        ['a seed that is a text', 'seed', (f) => f(service(), { seed: 'x' })],
        ['arbitraries by number', 'arbitraries', (f) => f(service(), { arbitraries: 5 })],
        [
          'an arbitrary of no operation',
          'arbitraries.buy',
          (f) => f(service(), { arbitraries: { buy: () => ({}) } }),
        ],
        ['requests by name', 'requests', (f) => f(service(), { requests: ['home'] })],
        [
          'an end that is no function',
          'shouldContinue',
          (f) => f(service(), { shouldContinue: 5 }),
        ],
      ],
    },
    withPrincipal: {
      shows: "withPrincipal(deployment.site('ireland'), { id: 'ada' })",
      whole: [['nothing', 'binding', (f) => f()]],
      parts: [
        ['no principal', 'principal', (f) => f(binding())],
        ['the name alone', 'principal', (f) => f(binding(), 'ada')],
        ['an id that is a number', 'principal.id', (f) => f(binding(), { id: 5 })],
      ],
    },
    singleSiteService: {
      shows: 'singleSiteService(service, { onAlarm })',
      whole: [
        ['nothing', 'service', (f) => f()],
        ['a contract', 'service', (f) => f(contract())],
        ['a function for the options', 'options', (f) => f(service(), () => {})],
      ],
      parts: [['an alarm that is none', 'onAlarm', (f) => f(service(), { onAlarm: 'log' })]],
    },
    scriptedBinding: {
      shows: "scriptedBinding(['weak', 'strong'], { onCall })",
      whole: [['a function for the options', 'options', (f) => f(['weak'], () => {})]],
      parts: [
        ['nothing', 'levels', (f) => f()],
        ['a level', 'levels', (f) => f('weak')],
        ['an answer that is a value', 'onCall', (f) => f(['weak'], { onCall: 5 })],
        ['an option that is misspelt', 'session', (f) => f(['weak'], { session: true })],
      ],
    },
    virtualClock: {
      shows: 'virtualClock(0)',
      whole: [
        ['a date', 'startsAt', (f) => f(new Date())],
        ['a text', 'startsAt', (f) => f('2026-11-22')],
      ],
      parts: [],
    },
    ServiceCheckError: 'is made by simulateService',
  },
};

function gatewayBy(createGateway: unknown): unknown {
  return (createGateway as (options: object) => unknown)({ binding: binding() });
}
