/** Requests to a node, as frames without a stream. */
import type { ValueConverter } from '../../bindings/cassandra/value-converter.ts';
import type { Column } from './columns.ts';
import { CqlError } from './cql-error.ts';
import { FrameWriter } from './frame-writer.ts';
import { FRAME_FLAG, OPCODE, QUERY_FLAG, UNSET_LENGTH } from './protocol.ts';

const CQL_VERSION = '3.0.0';
/** The key of the custom payload that requests incremental reads and marks their replies. */
export const ICG_KEY = 'icg';
/** The consistency of requests that are no reads: `ONE`. */
const CONSISTENCY_ONE = 0x0001;

export function encodeStartup(): Buffer {
  const options = [
    ['CQL_VERSION', CQL_VERSION],
    ['DRIVER_NAME', 'correctables'],
  ] as const;
  return new FrameWriter().stringMap(options).frame(OPCODE.startup);
}

export function encodeOptions(): Buffer {
  return new FrameWriter().frame(OPCODE.options);
}

export function encodeAuthResponse(token: Uint8Array | null): Buffer {
  return new FrameWriter().bytes(token).frame(OPCODE.authResponse);
}

export function encodePrepare(query: string): Buffer {
  return new FrameWriter().longString(query).frame(OPCODE.prepare);
}

export function encodeUse(keyspace: string): Buffer {
  const query = `USE "${keyspace.replaceAll('"', '""')}"`;
  return new FrameWriter().longString(query).short(CONSISTENCY_ONE).byte(0).frame(OPCODE.query);
}

/** Requests two views, with a confirmation if they are equal. */
const ICG_CONFIRM: Uint8Array = Buffer.of(1);

export interface ExecuteRequest {
  readonly id: Uint8Array;
  /** The number in the protocol. */
  readonly consistency: number;
  /** `undefined` for a value that stays unchanged. */
  readonly values: readonly (Uint8Array | null | undefined)[];
  readonly isIncremental: boolean;
  /** Maximum number of rows in one reply. Default: all */
  readonly pageSize: number | undefined;
  readonly pageState: Uint8Array | undefined;
}

export function encodeExecute({
  id,
  consistency,
  values,
  isIncremental,
  pageSize,
  pageState,
}: ExecuteRequest): Buffer {
  const writer = new FrameWriter();
  if (isIncremental) writer.bytesMap([[ICG_KEY, ICG_CONFIRM]]);
  writer
    .shortBytes(id)
    .short(consistency)
    .byte(
      (values.length > 0 ? QUERY_FLAG.values : 0) |
        (pageSize === undefined ? 0 : QUERY_FLAG.pageSize) |
        (pageState === undefined ? 0 : QUERY_FLAG.pagingState),
    );
  if (values.length > 0) writer.short(values.length);
  for (const value of values) {
    if (value === undefined) writer.int(UNSET_LENGTH);
    else writer.bytes(value);
  }
  if (pageSize !== undefined) writer.int(pageSize);
  if (pageState !== undefined) writer.bytes(pageState);
  return writer.frame(OPCODE.execute, isIncremental ? FRAME_FLAG.payload : 0);
}

/**
 * Encodes the parameters. Throws `INVALID_ARGUMENT` for a wrong one, `BAD_VALUE` for too many or
 * too few.
 */
export function encodeParameters(
  value: readonly unknown[],
  columns: readonly Column[],
  values: ValueConverter,
): ExecuteRequest['values'] {
  if (value.length !== columns.length) {
    throw new CqlError(
      'BAD_VALUE',
      `params: ${value.length} given, the statement has ${columns.length} markers`,
    );
  }
  return columns.map((column, at) => values.encode(value[at], column));
}
