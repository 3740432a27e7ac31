/**
 * `correctables/bindings/cassandra`: reads and writes on Apache Cassandra, and statements of your
 * own. Node only.
 */
export { cassandra } from './binding.ts';
export type { CassandraBinding, LevelsOf } from './binding.ts';
export type { CassandraAlarm } from './access-alarms.ts';
export type { CassandraOptions } from './options.ts';
export type { CassandraLevels, Consistency, FinalLevel } from './consistency-levels.ts';
export type {
  CassandraDriver,
  DriverClient,
  DriverColumn,
  DriverEncoder,
  DriverQueryOptions,
  DriverResult,
} from './driver.ts';
export { getKeyValueTableCql, type KeyValueTableOptions } from './key-value.ts';
export type {
  Page,
  PreliminaryReplies,
  ReadRequest,
  ReadSink,
  ReadStatement,
  ReadStrategy,
  ReadStrategyOptions,
  Row,
} from './read-strategy.ts';
export { wasApplied } from './statements/was-applied.ts';
export { noResult, oneRow, page, rows } from '../shared/statements/result-shapes.ts';
export type {
  MappedRow,
  ResultPage,
  ResultShape,
  RowMapper,
  VersionOption,
} from '../shared/statements/result-shapes.ts';
export { defineStatements, implementStatements, statement } from './statements/statements.ts';
export type {
  AnySpec,
  AnySpecs,
  Implementations,
  Statement,
  Statements,
  StatementSpec,
  StatementText,
} from './statements/statements.ts';
export type {
  BoundStatement,
  ContractLike,
  StatementBuilders,
} from '../shared/statements/statement-catalog.ts';
export type {
  AnySchema,
  Issue,
  SchemaInput,
  SchemaOutput,
} from '../shared/statements/standard-schema.ts';
export type { ReadStats } from './session-guarantees/read-stats.ts';
export { jsonCodec } from './value-converter.ts';
export type { ValueCodec } from './value-converter.ts';
