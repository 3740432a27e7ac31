/** How a path to a Correctable Cassandra is made. */
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { ServerAddress } from '../../../engine-client/address.ts';
import type { ReadPathSettings } from '../read-path.ts';
import type { Handshake } from './handshake.ts';

/** Bounds that no application sets, and tests make small. */
const LIMITS = {
  /** Most requests under way on the connection; more wait. The protocol has 32 768 numbers for them. */
  inFlightMax: 2_048,
  /** Most reads under way or waiting; more are refused. */
  readsMax: 20_000,
  /** Largest answer in bytes: what nodes send at most unless told otherwise. */
  maxFrameBytes: 256 * 1024 * 1024,
  /** How long connecting and the handshake may take, in milliseconds. */
  connectTimeoutMs: 5_000,
  /**
   * How long the node may say nothing at all, in milliseconds: it is asked for a word after a third of it, and given up
   * after all of it. Longer than a node works on a read.
   */
  silenceMaxMs: 6_000,
  /** Upper bound of the first pause before connecting again, in milliseconds; each is twice the one before. */
  reconnectFirstMs: 50,
  /** Upper bound of every such pause, in milliseconds. */
  reconnectMaxMs: 10_000,
};

export type Limits = Readonly<typeof LIMITS>;

export interface PathOptions extends Limits, Handshake, ServerAddress {
  readonly tls: TlsOptions | undefined;
  readonly requestTimeoutMs: number;
}

export function resolvePathOptions(settings: ReadPathSettings, limits: Partial<Limits>): PathOptions {
  const { contactPoints, credentials, keyspace, tls, requestTimeoutMs } = settings;
  const { host, port } = contactPoints[0] as ServerAddress;
  return { ...LIMITS, ...limits, host, port, credentials, keyspace, tls, requestTimeoutMs };
}
