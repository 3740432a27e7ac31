/**
 * The rows of the protocol as the instruments say them: written out here, not taken from the code
 * that is judged. A change of the protocol is a change of this file.
 */
import { Packr } from 'msgpackr';
import { PROTOCOL_VERSION } from '../../../src/protocol/codec/version.ts';

export type RawMessage = readonly unknown[];

/** The codecs, by the name of their subprotocol. */
export const SUBPROTOCOLS = {
  json: 'correctables.v1+json',
  msgpack: 'correctables.v1+msgpack',
} as const;
export type CodecName = keyof typeof SUBPROTOCOLS;

/** Rows that need no more than their numbers. */
export const say = {
  cancel: (id: number): RawMessage => [id, 'cancel'],
  ack: (upTo: number): RawMessage => [upTo, 'ack'],
  ping: (n: number): RawMessage => [n, 'ping'],
  pong: (n: number): RawMessage => [n, 'pong'],
  renew: (token: string): RawMessage => [0, 'renew', token],
};

interface HelloParts {
  readonly client: string;
  readonly levels: readonly string[];
  readonly attempt?: number | undefined;
  readonly token?: string | undefined;
  readonly contract?: { readonly name: string; readonly hash: string } | undefined;
}

export function createHello({
  client,
  levels,
  attempt = 1,
  token,
  contract,
}: HelloParts): RawMessage {
  const optional = {
    ...(token !== undefined && { token }),
    ...(contract !== undefined && { contract }),
  };
  return [0, 'hello', { version: PROTOCOL_VERSION, client, attempt, levels, ...optional }];
}

interface SubmitMessageParts {
  readonly id: number;
  readonly name: string;
  readonly access: 'read' | 'write';
  /** As bits. */
  readonly levels: number;
  readonly args: unknown;
}

export function createSubmit({ id, name, access, levels, args }: SubmitMessageParts): RawMessage {
  return [id, 'submit', name, access, levels, args];
}

const packr = new Packr({ useRecords: false });

/** One frame with these rows. */
export function encode(rows: readonly RawMessage[], codec: CodecName): Buffer {
  return codec === 'json' ? Buffer.from(JSON.stringify(rows)) : Buffer.from(packr.pack(rows));
}
