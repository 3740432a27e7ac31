/** The options of a connection to a coordinator with preliminary replies. */
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { ServerAddress } from '../../bindings/shared/server-address.ts';
import type { ReadStrategyOptions } from '../../bindings/cassandra/read-strategy.ts';
import type { HandshakeOptions } from './handshake.ts';

/** Limits that no application sets, and that tests make small. */
const DEFAULT_LIMITS = {
  /**
   * Maximum of requests in flight on the connection; more wait. The protocol has 32 768 numbers for
   * them.
   */
  maxInFlight: 2_048,
  /** Maximum of reads in flight or waiting; more are refused. */
  maxReads: 20_000,
  /** Maximum size of a reply in bytes: the default limit of nodes. */
  maxFrameBytes: 256 * 1024 * 1024,
  /** Timeout for connecting and the handshake, in milliseconds. */
  connectTimeoutMs: 5_000,
  /**
   * Maximum silence of the node in milliseconds, longer than any read. A heartbeat is sent after a
   * third of it.
   */
  maxSilenceMs: 6_000,
  /**
   * Upper bound of the first pause before reconnecting, in milliseconds. Each pause is twice the
   * one before.
   */
  initialReconnectDelayMs: 50,
  /** Upper bound of every such pause, in milliseconds. */
  maxReconnectDelayMs: 10_000,
};

export type PluginLimits = Readonly<typeof DEFAULT_LIMITS>;

export interface PluginOptions extends PluginLimits, HandshakeOptions, ServerAddress {
  readonly tls: TlsOptions | undefined;
  readonly requestTimeoutMs: number;
}

export function resolvePluginOptions(
  settings: ReadStrategyOptions,
  limits: Partial<PluginLimits>,
): PluginOptions {
  const { contactPoints, credentials, keyspace, tls, requestTimeoutMs } = settings;
  const { host, port } = contactPoints[0] as ServerAddress;
  return {
    ...DEFAULT_LIMITS,
    ...limits,
    host,
    port,
    credentials,
    keyspace,
    tls,
    requestTimeoutMs,
  };
}
