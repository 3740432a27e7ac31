/** Requests to a node, as frames without a stream yet. */
import type { Column } from './columns.ts';
import { CqlError } from './cql-error.ts';
import { FrameWriter } from './frame-writer.ts';
import { FRAME_FLAG, NULL_LENGTH, OPCODE, QUERY_FLAG, UNSET_LENGTH } from './protocol.ts';
import { UNSET, type CqlValues, type Encoded } from './values.ts';

const CQL_VERSION = '3.0.0';
/** The key of the custom payload by which incremental reads are asked for and told. */
export const ICG_KEY = 'icg';
/** Consistency of what this client sends beside reads: `ONE`. */
const CONSISTENCY_ONE = 0x0001;

export function startupFrame(): Buffer {
  const options = [
    ['CQL_VERSION', CQL_VERSION],
    ['DRIVER_NAME', 'correctables'],
  ] as const;
  return new FrameWriter().stringMap(options).frame(OPCODE.startup);
}

export function optionsFrame(): Buffer {
  return new FrameWriter().frame(OPCODE.options);
}

export function authResponseFrame(token: Uint8Array | null): Buffer {
  return new FrameWriter().bytes(token).frame(OPCODE.authResponse);
}

export function prepareFrame(query: string): Buffer {
  return new FrameWriter().longString(query).frame(OPCODE.prepare);
}

/** Chooses the keyspace for statements that name none. */
export function useFrame(keyspace: string): Buffer {
  const query = `USE "${keyspace.replaceAll('"', '""')}"`;
  return new FrameWriter().longString(query).short(CONSISTENCY_ONE).byte(0).frame(OPCODE.query);
}

/** What an incremental read asks for: a confirmation where the views are equal, or the final view in any case. */
export type IcgMode = 'confirm' | 'full';
const ICG_MODE: { readonly [mode in IcgMode]: Uint8Array } = { confirm: Buffer.of(1), full: Buffer.of(2) };

export interface Execution {
  readonly id: Uint8Array;
  /** As the protocol counts them. */
  readonly consistency: number;
  readonly values: readonly Encoded[];
  /** Asks for a preliminary view too. */
  readonly icg: IcgMode | undefined;
  /** Most rows in one answer; all unless given. */
  readonly pageSize: number | undefined;
  readonly pageState: Uint8Array | undefined;
}

export function executeFrame({ id, consistency, values, icg, pageSize, pageState }: Execution): Buffer {
  const writer = new FrameWriter();
  if (icg !== undefined) writer.bytesMap([[ICG_KEY, ICG_MODE[icg]]]);
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
    if (value === UNSET) writer.int(UNSET_LENGTH);
    else if (value === null) writer.int(NULL_LENGTH);
    else writer.bytes(value);
  }
  if (pageSize !== undefined) writer.int(pageSize);
  if (pageState !== undefined) writer.bytes(pageState);
  return writer.frame(OPCODE.execute, icg === undefined ? 0 : FRAME_FLAG.payload);
}

/**
 * The parameters of a statement as bytes.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` that names the parameter; CqlError `BAD_VALUE` for too many or too few
 */
export function encodeParameters(
  given: readonly unknown[],
  columns: readonly Column[],
  values: CqlValues,
): readonly Encoded[] {
  if (given.length !== columns.length) {
    throw new CqlError('BAD_VALUE', `params: ${given.length} given, the statement has ${columns.length} markers`);
  }
  return columns.map(({ name, type }, at) => values.encode(given[at], type, name));
}
