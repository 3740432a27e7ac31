/** How a path to a Correctable Cassandra is made. */
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { invalidArgument } from '../../../correctable/errors.ts';
import type { ReadPathSettings } from '../read-path.ts';
import type { Handshake } from './handshake.ts';
import { STREAMS_MAX } from './stream-ids.ts';

/** What may be chosen beside the settings that all ways share. */
export interface Tuning {
  /** Connections to the coordinator. 1. */
  readonly connections?: number | undefined;
  /** Most requests under way on one connection; more wait. 2048, at most 32 000. */
  readonly inFlightMax?: number | undefined;
  /** Most reads under way or waiting; more are refused. 20 000. */
  readonly readsMax?: number | undefined;
  /** Largest answer in bytes. 256 MiB, which is what nodes send at most unless told otherwise. */
  readonly maxFrameBytes?: number | undefined;
  /** How long connecting and the handshake may take, in milliseconds. 5000. */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * How long the node may say nothing at all, in milliseconds: it is asked for a word after a third of it, and given up
   * after all of it. 6000, which is longer than a node works on a read.
   */
  readonly silenceMaxMs?: number | undefined;
  /** Upper bound of the first pause before connecting again, in milliseconds; each is twice the one before. 50. */
  readonly reconnectFirstMs?: number | undefined;
  /** Upper bound of every such pause, in milliseconds. 10 000. */
  readonly reconnectMaxMs?: number | undefined;
  /** Whether a final view that equals the preliminary one comes as a confirmation without rows. True. */
  readonly confirmations?: boolean | undefined;
}

/** What one connection needs to know. */
export interface NodeOptions extends Handshake {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOptions | undefined;
  readonly connectTimeoutMs: number;
  readonly silenceMaxMs: number;
  readonly maxFrameBytes: number;
  readonly inFlightMax: number;
}

export interface PathOptions extends NodeOptions {
  readonly connections: number;
  readonly readsMax: number;
  readonly reconnectFirstMs: number;
  readonly reconnectMaxMs: number;
  readonly requestTimeoutMs: number;
  readonly confirmations: boolean;
}

const MIB = 1024 * 1024;
const COUNT_MAX = 2 ** 31 - 1;

/** @throws CorrectableError `INVALID_ARGUMENT` that names the field */
export function resolvePathOptions(settings: ReadPathSettings, tuning: Tuning): PathOptions {
  const count = (field: keyof Tuning, unlessGiven: number, most = COUNT_MAX): number => {
    const value = tuning[field] ?? unlessGiven;
    if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= most) return value;
    throw invalidArgument(field, `give a whole number from 1 to ${most}`);
  };
  return {
    ...parseNode(settings.contactPoints[0]),
    credentials: settings.credentials,
    keyspace: settings.keyspace,
    tls: settings.tls,
    requestTimeoutMs: settings.requestTimeoutMs,
    connections: count('connections', 1, 1024),
    inFlightMax: count('inFlightMax', 2048, STREAMS_MAX),
    readsMax: count('readsMax', 20_000),
    maxFrameBytes: count('maxFrameBytes', 256 * MIB),
    connectTimeoutMs: count('connectTimeoutMs', 5_000),
    silenceMaxMs: count('silenceMaxMs', 6_000),
    reconnectFirstMs: count('reconnectFirstMs', 50),
    reconnectMaxMs: count('reconnectMaxMs', 10_000),
    confirmations: tuning.confirmations ?? true,
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
