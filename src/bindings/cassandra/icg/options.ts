/** How a path to a Correctable Cassandra is made. */
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { invalidArgument } from '../../../correctable/errors.ts';
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

export interface PathOptions extends Limits, Handshake {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOptions | undefined;
  readonly requestTimeoutMs: number;
}

/** @throws CorrectableError `INVALID_ARGUMENT` for a contact point that is none */
export function resolvePathOptions(settings: ReadPathSettings, limits: Partial<Limits>): PathOptions {
  const { credentials, keyspace, tls, requestTimeoutMs } = settings;
  return {
    ...LIMITS,
    ...limits,
    ...parseNode(settings.contactPoints[0]),
    credentials,
    keyspace,
    tls,
    requestTimeoutMs,
  };
}

/** The node as text, as in `contactPoints`. */
export function nodeText({ host, port }: { readonly host: string; readonly port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** IPv6 addresses stand in brackets. */
function parseNode(text: string | undefined): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^[\]\s]+)):(\d+)$/.exec(text ?? '');
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host !== undefined && port > 0 && port < 65_536) return { host, port };
  throw invalidArgument('contactPoints', `give host:port, not "${text}"`);
}
