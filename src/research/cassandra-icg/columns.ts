/** The columns of a result or of a statement's parameters, in the shape of `cassandra-driver`. */
import { TYPE, type CqlType } from '../../bindings/cassandra/cql/cql-types.ts';
import type { BodyReader } from './body-reader.ts';
import { createProtocolError } from './cql-error.ts';
import { ROWS_FLAG } from './protocol.ts';

/** A CQL type in the shape of the driver. */
export interface ColumnType extends CqlType {
  readonly type: null;
}

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** Present only if the columns are from different tables. */
  readonly ksname?: string;
  readonly tablename?: string;
}

export interface RowsMetadata {
  readonly columnCount: number;
  /** `undefined` if the node left them out. */
  readonly columns: readonly Column[] | undefined;
  /** The position of the next page. `undefined` on the last one. */
  readonly pageState: Buffer | undefined;
}

/** The minimum size of a column: a name without text, and a type. */
const MIN_COLUMN_BYTES = 4;
const MIN_TYPE_BYTES = 2;
const MAX_NESTING = 64;

export function readRowsMetadata(reader: BodyReader): RowsMetadata {
  const flags = reader.int();
  const columnCount = reader.int();
  if (columnCount < 0) throw createProtocolError(`${columnCount} columns`);
  const pageState =
    (flags & ROWS_FLAG.morePages) === 0 ? undefined : Buffer.from(reader.bytes() ?? []);
  // Later versions of the protocol send the id of the new columns, which is skipped.
  if ((flags & ROWS_FLAG.metadataChanged) !== 0) reader.shortBytes();
  if ((flags & ROWS_FLAG.noMetadata) !== 0) return { columnCount, columns: undefined, pageState };
  return {
    columnCount,
    columns: readColumns(reader, columnCount, flags),
    pageState,
  };
}

export function readParameters(reader: BodyReader): readonly Column[] {
  const flags = reader.int();
  const count = reader.int();
  const keys = reader.int();
  reader.readItems(keys, 2, () => reader.short());
  return readColumns(reader, count, flags);
}

function readColumns(reader: BodyReader, count: number, flags: number): readonly Column[] {
  const isOneTable = (flags & ROWS_FLAG.globalTable) !== 0;
  if (isOneTable) {
    reader.string();
    reader.string();
  }
  return reader.readItems(count, MIN_COLUMN_BYTES, () => {
    if (isOneTable) return { name: reader.string(), type: readType(reader, 0) };
    const [ksname, tablename] = [reader.string(), reader.string()];
    return {
      ksname,
      tablename,
      name: reader.string(),
      type: readType(reader, 0),
    };
  });
}

function readType(reader: BodyReader, depth: number): ColumnType {
  if (depth > MAX_NESTING) throw createProtocolError(`types within types, ${MAX_NESTING} deep`);
  const code = reader.short();
  const inner = (): ColumnType => readType(reader, depth + 1);
  switch (code) {
    case TYPE.custom:
      return { code, type: null, info: reader.string() };
    case TYPE.list:
    case TYPE.set:
      return { code, type: null, info: inner() };
    case TYPE.map:
      return { code, type: null, info: [inner(), inner()] };
    case TYPE.udt: {
      const [keyspace, name] = [reader.string(), reader.string()];
      const readField = (): { name: string; type: ColumnType } => ({
        name: reader.string(),
        type: inner(),
      });
      const fields = reader.readItems(reader.short(), MIN_COLUMN_BYTES, readField);
      return { code, type: null, info: { keyspace, name, fields } };
    }
    case TYPE.tuple:
      return {
        code,
        type: null,
        info: reader.readItems(reader.short(), MIN_TYPE_BYTES, inner),
      };
    default:
      return { code, type: null };
  }
}
