/**
 * Bodies of responses as a node writes them, for tests. Written apart from the client's own code.
 */
import type { Column, ColumnType } from '../../../../src/research/cassandra-icg/columns.ts';

const short = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
};

const int = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const string = (text: string): Buffer =>
  Buffer.concat([short(Buffer.byteLength(text)), Buffer.from(text)]);
const shortBytes = (bytes: Uint8Array): Buffer => Buffer.concat([short(bytes.length), bytes]);
const longBytes = (bytes: Uint8Array | null): Buffer =>
  bytes === null ? int(-1) : Buffer.concat([int(bytes.length), bytes]);

const GLOBAL_TABLE = 1;
const MORE_PAGES = 2;
const NO_METADATA = 4;

function type({ code, info }: ColumnType): Buffer {
  const inner = info as ColumnType & readonly ColumnType[];
  switch (code) {
    case 0x00:
      return Buffer.concat([short(code), string(info as string)]);
    case 0x20:
    case 0x22:
      return Buffer.concat([short(code), type(inner)]);
    case 0x21:
      return Buffer.concat([short(code), ...inner.map(type)]);
    case 0x30: {
      const { keyspace, name, fields } = info as {
        readonly keyspace: string;
        readonly name: string;
        readonly fields: readonly { readonly name: string; readonly type: ColumnType }[];
      };
      const written = fields.map((field) => Buffer.concat([string(field.name), type(field.type)]));
      return Buffer.concat([
        short(code),
        string(keyspace),
        string(name),
        short(fields.length),
        ...written,
      ]);
    }
    case 0x31:
      return Buffer.concat([short(code), short(inner.length), ...inner.map(type)]);
    default:
      return short(code);
  }
}

function columnsOf(columns: readonly Column[]): Buffer {
  return Buffer.concat([
    string('ks'),
    string('t'),
    ...columns.map((item) => Buffer.concat([string(item.name), type(item.type)])),
  ]);
}

export interface RowsBody {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly (Uint8Array | null)[])[];
  readonly pageState?: Uint8Array | undefined;
  readonly skipMetadata?: boolean | undefined;
}

/** RESULT Rows. */
export function rowsBody({ columns, rows, pageState, skipMetadata = false }: RowsBody): Buffer {
  const flags =
    (skipMetadata ? NO_METADATA : GLOBAL_TABLE) | (pageState === undefined ? 0 : MORE_PAGES);
  return Buffer.concat([
    int(2),
    int(flags),
    int(columns.length),
    ...(pageState === undefined ? [] : [longBytes(pageState)]),
    ...(skipMetadata ? [] : [columnsOf(columns)]),
    int(rows.length),
    ...rows.flat().map(longBytes),
  ]);
}

export const voidBody = (): Buffer => int(1);
export const setKeyspaceBody = (keyspace: string): Buffer =>
  Buffer.concat([int(3), string(keyspace)]);

/** RESULT Prepared. */
export function preparedBody(
  id: Uint8Array,
  parameters: readonly Column[],
  columns: readonly Column[],
): Buffer {
  const keys = parameters.length > 0 ? [int(1), short(0)] : [int(0)];
  return Buffer.concat([
    int(4),
    shortBytes(id),
    int(GLOBAL_TABLE),
    int(parameters.length),
    ...keys,
    columnsOf(parameters),
    int(GLOBAL_TABLE),
    int(columns.length),
    columnsOf(columns),
  ]);
}

/** ERROR; `rest` is what some codes have behind the message. */
export function errorBody(
  code: number,
  message: string,
  remaining: Buffer = Buffer.alloc(0),
): Buffer {
  return Buffer.concat([int(code), string(message), remaining]);
}

/** What stands behind the message of `Unavailable`, `Read_timeout`, `Unprepared`. */
export const errorRest = {
  unavailable: (consistency: number, required: number, alive: number): Buffer =>
    Buffer.concat([short(consistency), int(required), int(alive)]),
  readTimeout: (consistency: number, received: number, required: number): Buffer =>
    Buffer.concat([short(consistency), int(received), int(required), Buffer.of(1)]),
  unprepared: (id: Uint8Array): Buffer => shortBytes(id),
};

export function supportedBody(options: Readonly<Record<string, readonly string[]>>): Buffer {
  const entries = Object.entries(options).map(([key, values]) =>
    Buffer.concat([string(key), short(values.length), ...values.map(string)]),
  );
  return Buffer.concat([short(entries.length), ...entries]);
}

export const authenticateBody = (authenticator: string): Buffer => string(authenticator);
export const challengeBody = (token: Uint8Array): Buffer => longBytes(token);

/** What stands in front of a body: warnings, then a custom payload. */
export function prelude({
  warnings,
  payload,
}: {
  readonly warnings?: readonly string[];
  readonly payload?: Readonly<Record<string, Uint8Array>>;
}): Buffer {
  const entries = Object.entries(payload ?? {}).map(([key, value]) =>
    Buffer.concat([string(key), longBytes(value)]),
  );
  return Buffer.concat([
    ...(warnings === undefined ? [] : [short(warnings.length), ...warnings.map(string)]),
    ...(payload === undefined ? [] : [short(entries.length), ...entries]),
  ]);
}

/** A whole response. */
export function responseFrame(parts: {
  readonly stream: number;
  readonly opcode: number;
  readonly body: Uint8Array;
  readonly flags?: number;
  readonly version?: number;
}): Buffer {
  const { stream, opcode, body, flags = 0, version = 0x84 } = parts;
  const header = Buffer.alloc(9);
  header.writeUInt8(version, 0);
  header.writeUInt8(flags, 1);
  header.writeInt16BE(stream, 2);
  header.writeUInt8(opcode, 4);
  header.writeInt32BE(body.length, 5);
  return Buffer.concat([header, body]);
}
