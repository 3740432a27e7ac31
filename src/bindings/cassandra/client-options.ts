/** The options of the driver's client. */
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { formatAddress, type ServerAddress } from '../shared/server-address.ts';
import type { CassandraDriver } from './driver.ts';
import { createAddressTranslator } from './driver-policies.ts';
import type { ResolvedOptions } from './options.ts';

/**
 * Returns options for `tls.connect` that check the node's name. Returns no options if those of the
 * application do so already.
 */
function getServerIdentity(
  contactPoints: readonly ServerAddress[],
  tls: { readonly servername?: unknown },
): object {
  if (tls.servername !== undefined) return {};
  return {
    checkServerIdentity(address: string, certificate: PeerCertificate): Error | undefined {
      const names = [address, ...contactPoints.map(({ host }) => host)];
      const failures = names.map((name) => checkServerIdentity(name, certificate));
      return failures.includes(undefined) ? undefined : failures[0];
    },
  };
}

/**
 * Maximum number of requests in flight on one connection. Above it the driver would use a more
 * distant node.
 */
const MAX_REQUESTS_PER_CONNECTION = 16_384;

/**
 * The pauses between attempts to connect to a node that is down. The driver's own grow to ten
 * minutes.
 */
const FIRST_RECONNECT_DELAY_MS = 100;
const MAX_RECONNECT_DELAY_MS = 2_000;
/** The driver's own limit for opening a connection. */
const MAX_CONNECT_TIMEOUT_MS = 5_000;
/** After so long without a request, a connection is probed. */
const MAX_IDLE_MS = 5_000;
/**
 * A connection with more requests than this without an answer is closed. Slow statements on a
 * healthy node must not reach it, because writes in flight would fail. `NodeHealth` notices a dead
 * connection much earlier.
 */
const MAX_TIMED_OUT_REQUESTS = 64;
/**
 * Version 4 of the protocol. The driver knows no later one of Cassandra. Those of DSE would need
 * the prepared statements that the binding hides.
 */
const PROTOCOL_VERSION = 4;

export interface ClientPolicies {
  readonly loadBalancing: object;
  readonly retry: object;
}

/** Returns the options of a client that connects through one contact point. */
export function createClientOptions(
  driver: CassandraDriver,
  options: ResolvedOptions,
  contactPoint: ServerAddress,
  { loadBalancing, retry }: ClientPolicies,
): object {
  const {
    contactPoints,
    keyspace,
    credentials,
    tls,
    requestTimeoutMs,
    translateAddress,
    clientOptions,
  } = options;
  const value = clientOptions as DriverOptions;
  const { speculativeExecution, reconnection } = driver.policies;
  const hasTranslator =
    translateAddress === undefined && value.policies?.addressResolution !== undefined;
  return {
    // Only token-aware routing needs the schema, and these requests do not use it. Types come from
    // the prepared statements.
    isMetadataSyncEnabled: false,
    ...value,
    // A text is prepared at one node, see `PreparedTexts`.
    prepareOnAllHosts: false,
    rePrepareOnUp: false,
    // A profile named `default` would take precedence over these options. No other profile is used
    // here.
    profiles: undefined,
    contactPoints: [formatAddress(contactPoint)],
    // The port of nodes that are listed by name, and of nodes that are not listed.
    protocolOptions: {
      port: contactPoints[0]?.port,
      maxVersion: PROTOCOL_VERSION,
      ...value.protocolOptions,
    },
    keyspace,
    ...(credentials !== undefined && { credentials }),
    // By default the driver accepts any certificate, and compares it with the node's address
    // instead of its name.
    ...(tls !== undefined && {
      sslOptions: {
        rejectUnauthorized: true,
        ...getServerIdentity(contactPoints, tls),
        ...tls,
      },
    }),
    policies: {
      reconnection: new reconnection.ExponentialReconnectionPolicy(
        FIRST_RECONNECT_DELAY_MS,
        MAX_RECONNECT_DELAY_MS,
        true,
      ),
      ...value.policies,
      ...(!hasTranslator && {
        addressResolution: createAddressTranslator(driver, contactPoints, translateAddress),
      }),
      loadBalancing,
      retry,
      // Disable speculative execution: a second coordinator may reject what the first one executes,
      // or return older data.
      speculativeExecution: new speculativeExecution.NoSpeculativeExecutionPolicy(),
    },
    pooling: {
      maxRequestsPerConnection: MAX_REQUESTS_PER_CONNECTION,
      heartBeatInterval: MAX_IDLE_MS,
      ...value.pooling,
      // A silent first node must not keep the binding from starting.
      warmup: false,
    },
    socketOptions: {
      connectTimeout: Math.min(MAX_CONNECT_TIMEOUT_MS, requestTimeoutMs),
      ...value.socketOptions,
      readTimeout: requestTimeoutMs,
      defunctReadTimeoutThreshold: MAX_TIMED_OUT_REQUESTS,
    },
    // Decode maps to `Map`: as properties of an object, different keys could get the same name.
    encoding: { ...value.encoding, map: Map },
  };
}

interface DriverOptions {
  readonly policies?: { readonly addressResolution?: object };
  readonly protocolOptions?: object;
  readonly pooling?: object;
  readonly socketOptions?: object;
  readonly encoding?: object;
}
