/** The pages of docs/reference list every option, error code, and flag of the command line, and no other. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import ts from 'typescript';
import { COMMANDS } from '../../src/cli/commands.ts';

const root = new URL('../../', import.meta.url);
const readText = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const page = readText('docs/reference/options.md');

/** The interfaces whose options each section of the page lists, with their files in src. */
const SECTIONS: Readonly<Record<string, readonly (readonly [file: string, ...interfaces: string[]])[]>> = {
  createClient: [
    ['correctable/client/client.ts', 'ClientOptions'],
    ['correctable/environment.ts', 'EnvironmentOptions'],
  ],
  invoke: [['correctable/client/client.ts', 'InvokeOptions']],
  'session, settle, when, subscribe': [
    ['correctable/client/client.ts', 'SessionOptions'],
    ['correctable/correctable.ts', 'SettleOptions', 'WhenOptions', 'SubscribeOptions'],
  ],
  correctable: [['correctable/client/create.ts', 'CorrectableOptions']],
  correctableQuery: [['tanstack-query/correctable-query.ts', 'CorrectableQueryOptions']],
  React: [
    ['react/client-context.ts', 'ClientOptions'],
    ['react/use-correctable.ts', 'UseCorrectableOptions'],
    ['react/use-operation.ts', 'UseOperationOptions'],
    ['react/prefetch.ts', 'PrefetchOptions'],
  ],
  'fetchViews, respondWithViews, sendViews': [
    ['http/fetch-views.ts', 'FetchViewsOptions'],
    ['http/respond-with-views.ts', 'RespondOptions'],
    ['http/session-tokens.ts', 'SessionCookieOptions'],
  ],
  'httpHandler and toOpenApi': [
    ['http/http-handler.ts', 'HttpHandlerOptions'],
    ['http/open-api.ts', 'OpenApiOptions'],
  ],
  'retryPolicy and exponentialBackoff': [
    ['policies/retry.ts', 'RetryOptions'],
    ['correctable/backoff.ts', 'BackoffOptions'],
  ],
  transaction: [['transactions/transaction.ts', 'TransactionOptions']],
  put: [['operations/key-value.ts', 'PutOptions']],
  dequeue: [['operations/queue.ts', 'DequeueOptions']],
  memory: [['bindings/memory/memory.ts', 'MemoryOptions']],
  createCausalStore: [['bindings/causal/options.ts', 'CausalStoreOptions']],
  http: [['bindings/http/options.ts', 'HttpBindingOptions']],
  causalRedis: [['bindings/causal-redis/options.ts', 'CausalRedisOptions', 'CausalDeploymentOptions', 'RedisNodes']],
  tiered: [['bindings/tiered/tiered.ts', 'TieredOptions']],
  cached: [
    ['bindings/cache/options.ts', 'CacheOptions'],
    ['bindings/cache/indexeddb-store.ts', 'IndexedDbStoreOptions'],
    ['bindings/cache/node.ts', 'DirectoryStoreOptions'],
  ],
  'remote and redblue': [
    ['transport/options/options.ts', 'ConnectionOptions'],
    ['bindings/remote/remote.ts', 'RemoteOptions'],
    ['transport/find-sites.ts', 'FindSitesOptions'],
  ],
  zookeeper: [
    ['bindings/zookeeper/options.ts', 'ZooKeeperBindingOptions', 'OrphanRecoveryOptions'],
    ['bindings/zookeeper/min-threshold.ts', 'ConsumersOptions'],
    ['bindings/zookeeper/client/options.ts', 'ZooKeeperOptions'],
    ['bindings/zookeeper/client/zookeeper.ts', 'CreateOptions'],
  ],
  cassandra: [['bindings/cassandra/options.ts', 'CassandraOptions']],
  createEmbedded: [
    ['server/deployment/embedded/embedded-options.ts', 'EmbeddedOptions'],
    ['server/generator/generator-budget.ts', 'GeneratorLimits'],
  ],
  serve: [['server/serve.ts', 'ServeOptions']],
  serveCluster: [
    ['server/deployment/cluster/cluster-options.ts', 'ClusterNodeOptions'],
    ['server/serve-cluster.ts', 'ServeClusterOptions'],
  ],
  createGateway: [['server/gateway/gateway.ts', 'GatewayOptions']],
  listenGateways: [['server/gateway/listen/listen.ts', 'ListenOptions']],
  'Gateway limits': [['server/gateway/limits/limits.ts', 'GatewayLimits']],
  'correctables/testing': [
    ['testing/simulate-service.ts', 'SimulateServiceOptions'],
    ['server/color-analysis/analyze-colors.ts', 'ColorAnalysisOptions'],
    ['testing/scripted-binding.ts', 'ScriptedBindingOptions'],
    ['testing/single-site-service.ts', 'SingleSiteServiceOptions'],
  ],
};

/** `levels` of `invoke` is part of an overload, not of `InvokeOptions`. `refreshOn` is a property of the provider. */
const OTHER_OPTIONS: Readonly<Record<string, readonly string[]>> = { invoke: ['levels'], React: ['refreshOn'] };

/** Returns the names of the members of an interface, without those that it inherits. */
function readMembers(file: string, name: string): string[] {
  const text = readText(`src/${file}`);
  const { statements } = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = statements.find(
    (node): node is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(node) && node.name.text === name,
  );
  if (found === undefined) throw new Error(`src/${file} has no interface ${name}`);
  return found.members.map((member) => member.name?.getText() ?? '');
}

/** Returns the options in the first column of the tables of a section. */
function readDocumented(section: string): string[] {
  const body = page.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...body.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name);
}

test.each(Object.entries(SECTIONS))('options: %s lists the options of its interfaces', (section, sources) => {
  const members = sources.flatMap(([file, ...names]) => names.flatMap((name) => readMembers(file, name)));
  const expected = new Set([...members, ...(OTHER_OPTIONS[section] ?? [])]);
  expect([...new Set(readDocumented(section))].toSorted()).toEqual([...expected].toSorted());
});

/** Options of values and callbacks, which the pages about those explain. */
const EXPLAINED_ELSEWHERE: readonly string[] = [
  'DriverQueryOptions',
  'FinalOnlyOptions',
  'HandlerOptions',
  'KeyValueTableOptions',
  'PreliminaryRepliesOptions',
  'ReadStrategyOptions',
  'ScanOptions',
  'SimulationOptions',
  'TableOptions',
  'TakeOptions',
  'WriteOptions',
];

test('options: every interface of options that an entry has is in a section', () => {
  const snapshots = readdirSync(new URL('../../api/', import.meta.url)).map((file) => readText(`api/${file}`));
  const published = snapshots.flatMap((text) =>
    [...text.matchAll(/^interface (\w+Options)\b/gm)].map(([, name = '']) => name),
  );
  const listed = Object.values(SECTIONS).flatMap((sources) => sources.flatMap(([, ...names]) => names));
  const known = new Set([...listed, ...EXPLAINED_ELSEWHERE]);
  expect([...new Set(published)].filter((name) => !known.has(name))).toEqual([]);
});

test('options: every section is checked', () => {
  const headings = [...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(Object.keys(SECTIONS));
});

/** Returns the names in backticks that the rows of the tables begin with. */
const readRows = (text: string): string[] => [...text.matchAll(/^\| `([^`]+)`/gm)].map(([, name = '']) => name);

test('error codes: the table lists every code', () => {
  const [, codes = ''] = /export type ErrorCode =([^;]*);/.exec(readText('src/correctable/errors.ts')) ?? [];
  const expected = [...codes.matchAll(/'(\w+)'/g)].map(([, code]) => code);
  const [, table = ''] = readText('docs/reference/error-codes.md').split('\n## All codes\n');
  expect(readRows(table.split('\n## ')[0] ?? '').toSorted()).toEqual(expected.toSorted());
});

test.each(COMMANDS)('command line: the table of `$name` lists its flags', ({ name, flags }) => {
  const [, section = ''] = readText('docs/reference/cli.md').split(`\n## correctables ${name}`);
  expect(readRows(section.split('\n## ')[0] ?? '')).toEqual(flags.map(({ typed }) => typed));
});
