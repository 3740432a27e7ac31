/** `correctables/bindings/cassandra`: reads and writes on Apache Cassandra, and statements of your own. Node only. */
export { cassandra } from './cassandra-binding.ts';
export type { CassandraBinding, LevelsOf } from './cassandra-binding.ts';
export type { CassandraOptions } from './options.ts';
export type { CassandraLevels, Consistency, FinalLevel } from './levels.ts';
export type {
  CassandraDriver,
  DriverClient,
  DriverColumn,
  DriverEncoder,
  DriverQueryOptions,
  DriverResult,
} from './driver.ts';
export { keyValueTable, type KeyValueTableOptions } from './key-value-table.ts';
export type { CorrectableOption, Page, Row } from './read-path.ts';
export { applied, nothing, one, page, rows } from './statements/results.ts';
export type { Mapped, ResultPage, ResultShape, RowMapper, VersionOption } from './statements/results.ts';
export { defineStatements, implementStatements, statement } from './statements/statements.ts';
export type {
  AnySpec,
  AnySpecs,
  BoundStatement,
  ContractLike,
  Implementations,
  Statement,
  StatementBuilders,
  Statements,
  StatementSpec,
  StatementText,
} from './statements/statements.ts';
export type { AnySchema, Issue, SchemaInput, SchemaOutput } from './statements/standard-schema.ts';
export type { ReadCounts } from './sessions/tally.ts';
export { jsonCodec } from './values.ts';
export type { ValueCodec } from './values.ts';
