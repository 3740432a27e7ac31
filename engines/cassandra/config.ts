/** The configuration files of a node, and the command that starts it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CQL_PORT, oneWayMs, STORAGE_PORT, type Layout, type NodeLayout } from './layout.ts';
import type { TlsFiles } from './tls.ts';

/** What all nodes of a cluster have in common. */
export interface NodeOptions {
  readonly folder: string;
  readonly layout: Layout;
  readonly libraries: string;
  readonly java: string;
  /** The jar with preliminary replies, and the class in it that a node starts with. */
  readonly plugin: { readonly jar: string; readonly queryHandler: string } | undefined;
  /**
   * For tests: small heaps, a compiler that is soon done, writes on disk when acknowledged, no
   * hints.
   */
  readonly fast: boolean;
  /** Whether clients have to log in. */
  readonly authentication: boolean;
  /** Certificates, where clients have to use TLS. */
  readonly tls: TlsFiles | undefined;
  /** Further lines of `cassandra.yaml`. */
  readonly settings: readonly string[];
  /** Further flags of Java. */
  readonly javaFlags: readonly string[];
}

const JVM_OPTIONS = fileURLToPath(new URL('jvm17.options', import.meta.url));
const LOGBACK = new URL('logback.xml', import.meta.url).href;
const MEMORY = {
  fast: ['-Xms256M', '-Xmx256M', '-XX:TieredStopAtLevel=1'],
  full: ['-Xms512M', '-Xmx512M'],
};

/**
 * Has to exceed the time between the starts of the first node and the last, or they do not find
 * each other.
 */
const RING_DELAY_MS = 10_000;

export interface NodeFiles {
  readonly home: string;
  readonly yaml: string;
  readonly log: string;
}

export function filesOf(folder: string, { site }: NodeLayout): NodeFiles {
  const home = join(folder, site);
  return { home, yaml: join(home, 'cassandra.yaml'), log: join(folder, `${site}.log`) };
}

/** Writes a node's configuration, and returns the arguments of `java`. */
export function configure(node: NodeLayout, options: NodeOptions): string[] {
  const { folder, layout, libraries, plugin } = options;
  const { home, yaml } = filesOf(folder, node);
  const conf = join(home, 'conf');
  mkdirSync(conf, { recursive: true });
  writeFileSync(
    join(conf, 'cassandra-rackdc.properties'),
    `dc=${node.dataCenter}\nrack=${node.rack}\n`,
  );
  writeFileSync(yaml, yamlOf(node, home, options));
  const jars = [...(plugin === undefined ? [] : [plugin.jar]), join(libraries, '*')];
  return [
    ...(options.fast ? MEMORY.fast : MEMORY.full),
    '-Xss256k',
    '-XX:+UseSerialGC',
    '-XX:MaxDirectMemorySize=256M',
    `@${JVM_OPTIONS}`,
    `-javaagent:${join(libraries, 'jamm-0.4.0.jar')}`,
    `-Dcassandra.config=${pathToFileURL(yaml).href}`,
    `-Dcassandra.storagedir=${join(home, 'data')}`,
    `-Dlogback.configurationFile=${LOGBACK}`,
    `-Dcassandra.jmx.local.port=${node.jmxPort}`,
    `-Dcassandra.ring_delay_ms=${RING_DELAY_MS}`,
    '-Dcassandra.skip_wait_for_gossip_to_settle=0',
    '-Dcassandra.superuser_setup_delay_ms=0',
    '-Dcassandra-foreground=yes', // Otherwise it closes its log, which is standard output, once it has started.
    `-Dcassandra.system_auth.default_rf=${layout.nodes.length}`,
    '-Djava.net.preferIPv4Stack=true',
    ...(plugin === undefined ? [] : pluginFlags(node, layout, plugin.queryHandler)),
    ...options.javaFlags,
    '-cp',
    [conf, ...jars].join(delimiter),
    'org.apache.cassandra.service.CassandraDaemon',
  ];
}

function pluginFlags(node: NodeLayout, { wan, nodes }: Layout, queryHandler: string): string[] {
  const peers = nodes.filter((item) => item !== node && oneWayMs(wan, item.site, node.site) > 0);
  const delays = peers.map((peer) => `${peer.peerAddress}:${oneWayMs(wan, peer.site, node.site)}`);
  return [
    `-Dcassandra.custom_query_handler_class=${queryHandler}`,
    ...(delays.length === 0 ? [] : [`-Dcorrectables.delay=${delays.join(',')}`]),
  ];
}

function yamlOf(
  node: NodeLayout,
  home: string,
  { layout, fast, authentication, tls, settings }: NodeOptions,
): string {
  const data = (name: string): string => JSON.stringify(join(home, 'data', name));
  const seeds = layout.nodes.map(({ peerAddress }) => `${peerAddress}:${STORAGE_PORT}`).join(',');
  return [
    `cluster_name: correctables-${layout.network}`,
    'partitioner: org.apache.cassandra.dht.Murmur3Partitioner',
    'num_tokens: 1',
    `initial_token: "${serials(layout.nodes.indexOf(node), layout.nodes.length)}"`,
    'auto_bootstrap: false',
    'endpoint_snitch: GossipingPropertyFileSnitch',
    'dynamic_snitch: false', // The nearest replica is the one that the data centres say, whatever was slow last.
    'seed_provider:',
    '  - class_name: org.apache.cassandra.locator.SimpleSeedProvider',
    `    parameters: [{ seeds: "${seeds}" }]`,
    `listen_address: ${node.address}`,
    ...(node.peerAddress === node.address ? [] : [`broadcast_address: ${node.peerAddress}`]),
    `rpc_address: ${node.address}`,
    `storage_port: ${STORAGE_PORT}`,
    'start_native_transport: true',
    `native_transport_port: ${CQL_PORT}`,
    'native_transport_max_threads: 128', // A pending quorum read holds a thread: a wide area needs many.
    `data_file_directories: [${data('data')}]`,
    `commitlog_directory: ${data('commitlog')}`,
    `saved_caches_directory: ${data('saved_caches')}`,
    `hints_directory: ${data('hints')}`,
    `cdc_raw_directory: ${data('cdc_raw')}`,
    ...(fast
      ? ['commitlog_sync: batch']
      : ['commitlog_sync: periodic', 'commitlog_sync_period: 10000ms']),
    'commitlog_segment_size: 16MiB',
    'disk_optimization_strategy: ssd',
    'memtable_heap_space: 64MiB',
    'memtable_offheap_space: 64MiB',
    'file_cache_size: 32MiB',
    'networking_cache_size: 32MiB',
    'key_cache_size: 4MiB',
    'concurrent_reads: 16',
    'concurrent_writes: 16',
    'concurrent_compactors: 1',
    'auto_snapshot: false',
    `hinted_handoff_enabled: ${!fast}`, // In tests, what a node missed is brought by repairs alone, whenever it comes back.
    'internode_compression: none',
    'inter_dc_tcp_nodelay: true',
    ...(authentication
      ? ['authenticator: PasswordAuthenticator', 'authorizer: CassandraAuthorizer']
      : []),
    ...(tls === undefined ? [] : encryption(tls)),
    ...settings,
    '',
  ].join('\n');
}

function encryption({ keyStore, password }: TlsFiles): string[] {
  return [
    'client_encryption_options:',
    '  enabled: true',
    '  optional: false',
    `  keystore: ${JSON.stringify(keyStore)}`,
    `  keystore_password: ${password}`,
    '  store_type: PKCS12',
  ];
}

/** The ring in equal parts. */
function serials(index: number, count: number): bigint {
  return -(2n ** 63n) + (BigInt(index) * 2n ** 64n) / BigInt(count);
}
