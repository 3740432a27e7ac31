/**
 * `npm run options`: writes the tables of docs/reference/options.md. A row has the first paragraph
 * of an option's docstring and its default. So the text of an option stands once, in the type that
 * editors show. What stands between the tables is written by hand.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { CACHE_OPTIONS } from '../src/bindings/cache/options.ts';
import { MEMORY_OPTIONS } from '../src/bindings/memory/memory.ts';
import { CAUSAL_STORE_OPTIONS } from '../src/bindings/causal/options.ts';
import { CACHE_ASIDE_OPTIONS } from '../src/bindings/tiered/cache-aside/cache-aside.ts';
import { VERSION_SESSIONS_OPTIONS } from '../src/bindings/tiered/sessions/version-sessions.ts';
import { SIGNED_TOKENS_OPTIONS } from '../src/bindings/tiered/signed-tokens.ts';
import { TIERED_OPTIONS } from '../src/bindings/tiered/tiered.ts';
import { RETRY_OPTIONS } from '../src/policies/retry.ts';
import { HANDLER_OPTIONS } from '../src/http/http-handler.ts';
import { OPEN_API_OPTIONS } from '../src/http/open-api.ts';
import { FIND_SITES_OPTIONS } from '../src/transport/find-sites.ts';
import { REMOTE_OPTIONS } from '../src/bindings/remote/remote.ts';
import { ANALYSIS_OPTIONS } from '../src/server/check/analysis-options.ts';
import { SIMULATION_OPTIONS } from '../src/testing/simulate-service.ts';
import { SCRIPTED_OPTIONS } from '../src/testing/scripted-binding.ts';
import { SINGLE_SITE_OPTIONS } from '../src/testing/single-site-service.ts';
import { HTTP_OPTIONS } from '../src/bindings/http/options.ts';
import { CLUSTER_NODE_OPTIONS } from '../src/server/node/cluster/cluster-options.ts';
import { GENERATOR_OPTIONS } from '../src/server/node/site-options.ts';
import { DURABLE_OPTIONS, EMBEDDED_OPTIONS } from '../src/server/node/embedded/embedded-options.ts';
import { GATEWAY_OPTIONS } from '../src/server/gateway/gateway-options.ts';
import { GATEWAY_LIMITS } from '../src/server/gateway/limits/limits.ts';
import { LISTEN_OPTIONS } from '../src/server/gateway/listen/listen-options.ts';
import type { Option } from '../src/correctable/options.ts';
import { CONNECTION_OPTIONS } from '../src/transport/options/options.ts';

/** Options that stand in one interface. */
export interface OptionGroup {
  /** The file in `src`. */
  readonly file: string;
  readonly type: string;
  /** What takes the options, if a table has those of several functions. */
  readonly of?: string;
  /** Whether all may be left out, although the members of the type have no `?`. */
  readonly isPartial?: boolean;
  /** The checks and defaults of the options. */
  readonly description?: Readonly<Record<string, Option>>;
  /** The only member that is an option. */
  readonly only?: string;
  /** Texts of options that are no members of the type, or that have no docstring. */
  readonly others?: Readonly<Record<string, string>>;
}

const HOOKS = '`useCorrectable`, `useOperation`, `usePrefetch`, `Hydrate`';
const SENDERS = '`respondWithViews`, `sendViews`';

/** The tables of each section of the page. */
export const SECTIONS: Readonly<Record<string, readonly (readonly OptionGroup[])[]>> = {
  createClient: [
    [
      { file: 'correctable/client/client.ts', type: 'ClientOptions' },
      { file: 'correctable/environment.ts', type: 'EnvironmentOptions' },
    ],
  ],
  invoke: [
    [
      {
        file: 'correctable/client/client.ts',
        type: 'InvokeOptions',
        others: {
          levels: 'The levels to request, as an array. Default: all levels of the binding',
        },
      },
    ],
  ],
  'session, settle, when, subscribe': [
    [
      { file: 'correctable/client/client.ts', type: 'SessionOptions', of: '`client.session`' },
      { file: 'correctable/correctable.ts', type: 'SettleOptions', of: '`settle`' },
      { file: 'correctable/correctable.ts', type: 'WhenOptions', of: '`when`' },
      {
        file: 'correctable/correctable.ts',
        type: 'SubscribeOptions',
        of: '`subscribe`, `setCallbacks`',
      },
    ],
  ],
  correctable: [[{ file: 'correctable/client/create.ts', type: 'CorrectableOptions' }]],
  correctableQuery: [
    [{ file: 'tanstack-query/correctable-query.ts', type: 'CorrectableQueryOptions' }],
  ],
  React: [
    [
      { file: 'react/client-context.ts', type: 'ClientOptions', of: HOOKS },
      { file: 'react/use-correctable.ts', type: 'UseCorrectableOptions', of: '`useCorrectable`' },
      { file: 'react/use-operation.ts', type: 'UseOperationOptions', of: '`useOperation`' },
      { file: 'react/prefetch.ts', type: 'PrefetchOptions', of: '`prefetch`' },
      {
        file: 'react/client-context.ts',
        type: 'CorrectablesProviderProps',
        of: '`CorrectablesProvider`',
        only: 'refreshOn',
      },
    ],
  ],
  'fetchViews, respondWithViews, sendViews': [
    [
      { file: 'http/fetch-views.ts', type: 'FetchViewsOptions', of: '`fetchViews`' },
      { file: 'http/respond-with-views.ts', type: 'RespondOptions', of: SENDERS },
      { file: 'http/session-tokens.ts', type: 'SessionCookieOptions', of: '`formatSessionCookie`' },
    ],
  ],
  'httpHandler and toOpenApi': [
    [
      {
        file: 'http/http-handler.ts',
        type: 'HttpHandlerOptions',
        of: '`httpHandler`',
        description: HANDLER_OPTIONS,
      },
      {
        file: 'http/open-api.ts',
        type: 'OpenApiOptions',
        of: '`toOpenApi`',
        description: OPEN_API_OPTIONS,
      },
    ],
  ],
  'retryPolicy and exponentialBackoff': [
    [{ file: 'policies/retry.ts', type: 'RetryOptions', description: RETRY_OPTIONS }],
    [{ file: 'correctable/backoff.ts', type: 'BackoffOptions' }],
  ],
  transaction: [[{ file: 'transactions/transaction.ts', type: 'TransactionOptions' }]],
  put: [[{ file: 'operations/key-value.ts', type: 'PutOptions' }]],
  dequeue: [[{ file: 'operations/queue.ts', type: 'DequeueOptions' }]],
  memory: [
    [{ file: 'bindings/memory/memory.ts', type: 'MemoryOptions', description: MEMORY_OPTIONS }],
  ],
  createCausalStore: [
    [
      {
        file: 'bindings/causal/options.ts',
        type: 'CausalStoreOptions',
        description: CAUSAL_STORE_OPTIONS,
      },
    ],
  ],
  http: [
    [{ file: 'bindings/http/options.ts', type: 'HttpBindingOptions', description: HTTP_OPTIONS }],
  ],
  causalRedis: [
    [
      { file: 'bindings/causal-redis/options.ts', type: 'CausalRedisOptions' },
      { file: 'bindings/causal-redis/options.ts', type: 'CausalDeploymentOptions' },
      { file: 'bindings/causal-redis/options.ts', type: 'RedisNodes' },
    ],
  ],
  tiered: [
    [{ file: 'bindings/tiered/tiered.ts', type: 'TieredOptions', description: TIERED_OPTIONS }],
    [
      {
        file: 'bindings/tiered/sessions/version-sessions.ts',
        type: 'VersionSessionsOptions',
        of: '`versionSessions`',
        description: VERSION_SESSIONS_OPTIONS,
      },
      {
        file: 'bindings/tiered/signed-tokens.ts',
        type: 'SignedTokensOptions',
        of: '`signedTokens`',
        description: SIGNED_TOKENS_OPTIONS,
      },
    ],
    [
      {
        file: 'bindings/tiered/cache-aside/cache-aside.ts',
        type: 'CacheAsideOptions',
        description: CACHE_ASIDE_OPTIONS,
      },
    ],
  ],
  cached: [
    [{ file: 'bindings/cache/options.ts', type: 'CacheOptions', description: CACHE_OPTIONS }],
    [
      {
        file: 'bindings/cache/indexeddb-store.ts',
        type: 'IndexedDbStoreOptions',
        of: '`indexedDbStore`',
      },
      { file: 'bindings/cache/node.ts', type: 'DirectoryStoreOptions', of: '`directoryStore`' },
    ],
  ],
  'remote and redblue': [
    [
      {
        file: 'transport/options/options.ts',
        type: 'ConnectionOptions',
        description: CONNECTION_OPTIONS,
      },
    ],
    [{ file: 'bindings/remote/remote.ts', type: 'RemoteOptions', description: REMOTE_OPTIONS }],
    [
      {
        file: 'transport/find-sites.ts',
        type: 'FindSitesOptions',
        description: FIND_SITES_OPTIONS,
      },
    ],
  ],
  zookeeper: [
    [{ file: 'bindings/zookeeper/options.ts', type: 'ZooKeeperBindingOptions' }],
    [
      {
        file: 'bindings/zookeeper/options.ts',
        type: 'OrphanRecoveryOptions',
        others: {
          delivery: "`'at-most-once'` drops such items, `'at-least-once'` puts them back. Required",
        },
      },
    ],
    [{ file: 'bindings/zookeeper/min-threshold.ts', type: 'ConsumersOptions' }],
    [{ file: 'bindings/zookeeper/client/options.ts', type: 'ZooKeeperOptions' }],
    [{ file: 'bindings/zookeeper/client/zookeeper.ts', type: 'CreateOptions' }],
  ],
  cassandra: [[{ file: 'bindings/cassandra/options.ts', type: 'CassandraOptions' }]],
  replicas: [[{ file: 'bindings/replicas/replicas.ts', type: 'ReplicasOptions' }]],
  postgres: [
    [{ file: 'bindings/postgres/options.ts', type: 'PostgresOptions' }],
    [{ file: 'bindings/postgres/migrations.ts', type: 'MigrationOptions' }],
  ],
  d1: [[{ file: 'bindings/d1/options.ts', type: 'D1Options' }]],
  valkey: [[{ file: 'bindings/valkey/options.ts', type: 'ValkeyOptions' }]],
  createEmbedded: [
    [
      {
        file: 'server/node/embedded/embedded-options.ts',
        type: 'EmbeddedOptions',
        description: EMBEDDED_OPTIONS,
      },
    ],
    [{ file: 'server/service/partition-options.ts', type: 'PartitionOptions' }],
    [
      {
        file: 'server/service/generator/generator-budget.ts',
        type: 'GeneratorLimits',
        isPartial: true,
        description: GENERATOR_OPTIONS,
      },
    ],
  ],
  openEmbedded: [
    [
      {
        file: 'server/node/embedded/embedded-options.ts',
        type: 'DurableEmbeddedOptions',
        description: DURABLE_OPTIONS,
      },
    ],
  ],
  serve: [[{ file: 'server/serve.ts', type: 'ServeOptions', description: LISTEN_OPTIONS }]],
  serveCluster: [
    [
      {
        file: 'server/node/cluster/cluster-options.ts',
        type: 'ClusterNodeOptions',
        description: CLUSTER_NODE_OPTIONS,
      },
      { file: 'server/serve-cluster.ts', type: 'ServeClusterOptions' },
    ],
  ],
  createGateway: [
    [
      {
        file: 'server/gateway/gateway-options.ts',
        type: 'GatewayOptions',
        description: GATEWAY_OPTIONS,
      },
    ],
  ],
  listenGateways: [
    [
      {
        file: 'server/gateway/listen/listen-options.ts',
        type: 'ListenOptions',
        description: LISTEN_OPTIONS,
      },
    ],
  ],
  'Gateway limits': [
    [
      {
        file: 'server/gateway/limits/limits.ts',
        type: 'GatewayLimits',
        isPartial: true,
        description: GATEWAY_LIMITS,
      },
    ],
  ],
  'correctables/testing': [
    [
      {
        file: 'testing/simulate-service.ts',
        type: 'SimulateServiceOptions',
        of: '`simulateService`',
        description: SIMULATION_OPTIONS,
      },
      {
        file: 'server/check/analysis-options.ts',
        type: 'ColorAnalysisOptions',
        of: '`analyzeColors`',
        description: ANALYSIS_OPTIONS,
      },
      {
        file: 'testing/scripted-binding.ts',
        type: 'ScriptedBindingOptions',
        of: '`scriptedBinding`',
        description: SCRIPTED_OPTIONS,
      },
      {
        file: 'testing/single-site-service.ts',
        type: 'SingleSiteServiceOptions',
        of: '`singleSiteService`',
        description: SINGLE_SITE_OPTIONS,
      },
    ],
  ],
};

const root = new URL('../', import.meta.url);
const PAGE = fileURLToPath(new URL('docs/reference/options.md', root));

/** One option, as the page shows it. */
export interface DocumentedOption {
  readonly name: string;
  readonly text: string;
}

/**
 * Returns the options of a type, without those that it inherits. Throws for one without a
 * docstring.
 */
export function readOptionTexts(group: OptionGroup): DocumentedOption[] {
  const { file, type, only, others = {} } = group;
  const listed = Object.entries(others).map(([name, text]) => ({ name, text }));
  const members = findMembers(file, type).filter(
    ({ name }) => only === undefined || name?.getText() === only,
  );
  const unlisted = members.filter(({ name }) => !Object.hasOwn(others, name?.getText() ?? ''));
  return [...listed, ...unlisted.map((member) => readMember(member, group))];
}

function readMember(
  member: ts.TypeElement,
  { file, type, isPartial = false }: OptionGroup,
): DocumentedOption {
  const name = member.name?.getText() ?? '';
  const text = readText(member);
  if (text === '') throw new Error(`src/${file}: ${type}.${name} has no docstring`);
  const isRequired =
    !isPartial && ts.isPropertySignature(member) && member.questionToken === undefined;
  return { name, text: isRequired ? `${addFullStop(text)} Required` : text };
}

function findMembers(file: string, type: string): readonly ts.TypeElement[] {
  const path = fileURLToPath(new URL(`src/${file}`, root));
  const { statements } = ts.createSourceFile(
    file,
    readFileSync(path, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const found = statements.find(
    (node): node is ts.InterfaceDeclaration =>
      ts.isInterfaceDeclaration(node) && node.name.text === type,
  );
  if (found === undefined) throw new Error(`src/${file} has no interface ${type}`);
  return found.members;
}

/** Returns the first paragraph, and the default if it stands in a later one. */
function readText(member: ts.TypeElement): string {
  const docs = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc);
  const comment = ts.getTextOfJSDocComment(docs.at(-1)?.comment) ?? '';
  const [first = '', ...later] = comment
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replaceAll(/\s+/g, ' ').trim());
  const defaults = later.filter((paragraph) => paragraph.startsWith('Default: '));
  const text = [first, ...defaults].join(' ').replaceAll('|', String.raw`\|`);
  return /Default: [^.]*\.$/.test(text) ? text.slice(0, -1) : text;
}

function addFullStop(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}

function formatTable(groups: readonly OptionGroup[]): string[] {
  const hasOf = groups.some(({ of }) => of !== undefined);
  const rows = groups.flatMap((group) =>
    readOptionTexts(group).map(({ name, text }) =>
      hasOf ? `| \`${name}\` | ${group.of ?? ''} | ${text} |` : `| \`${name}\` | ${text} |`,
    ),
  );
  const head = hasOf
    ? ['| Option | Of | What it sets |', '|---|---|---|']
    : ['| Option | What it sets |', '|---|---|'];
  return [...head, ...rows];
}

/** Returns the page with new tables. Throws if a section has another number of tables. */
export function generateOptionsPage(page: string): string {
  const [start = '', ...sections] = page.split(/^(?=## )/m);
  const titles = sections.map((section) => section.slice('## '.length, section.indexOf('\n')));
  const expected = Object.keys(SECTIONS);
  if (titles.join() !== expected.join())
    throw new Error(
      `the sections of ${PAGE} must be ${expected.join('; ')}, got ${titles.join('; ')}`,
    );
  return start + sections.map((section, at) => generateSection(section, titles[at] ?? '')).join('');
}

function generateSection(section: string, title: string): string {
  const tables = SECTIONS[title] ?? [];
  const parts = section.split(/((?:^\|.*\n)+)/m);
  const count = (parts.length - 1) / 2;
  if (count !== tables.length)
    throw new Error(`${title} has ${count} tables, and must have ${tables.length}`);
  return parts
    .map((part, at) =>
      at % 2 === 0 ? part : `${formatTable(tables[(at - 1) / 2] ?? []).join('\n')}\n`,
    )
    .join('');
}

/** Returns the page as it is, and as it must be. */
export function comparePage(): { readonly page: string; readonly expected: string } {
  const page = readFileSync(PAGE, 'utf8');
  return { page, expected: generateOptionsPage(page) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PAGE, comparePage().expected);
