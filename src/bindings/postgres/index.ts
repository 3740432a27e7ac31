/**
 * `correctables/bindings/postgres`: reads on the replicas and the primary of PostgreSQL, and
 * statements of your own. Node only.
 */
export { postgres } from './binding.ts';
export type { PostgresAddress, PostgresConnection, PostgresOptions } from './options.ts';
export { migrations, type MigrationOptions } from './migrations.ts';
export { standardPositions, type PostgresPosition, type PostgresPositions } from './position.ts';
export type { RunStatements, SqlResult, SqlStatement } from './connections/server.ts';
export type {
  DriverClient,
  DriverPool,
  DriverQuery,
  DriverResult,
  PostgresDriver,
} from './driver.ts';
export { getLagMs } from '../replicas/index.ts';
export type {
  ReplicaLevels,
  ReplicasAlarm,
  ReplicasBinding,
  ReplicasOptions,
  ReplicaStats,
} from '../replicas/index.ts';
export { wasApplied } from '../shared/statements/was-applied.ts';
export { noResult, oneRow, rows } from '../shared/statements/result-shapes.ts';
export type {
  MappedRow,
  ResultShape,
  RowMapper,
  VersionOption,
} from '../shared/statements/result-shapes.ts';
export type { Page, Row } from '../shared/statements/page.ts';
export { defineStatements, implementStatements, statement } from './statements/statements.ts';
export type {
  AnySpec,
  AnySpecs,
  Implementations,
  Statements,
  StatementSpec,
  StatementText,
} from './statements/statements.ts';
export type {
  BoundStatement,
  CheckedStatement,
  ContractLike,
  StatementBuilders,
} from '../shared/statements/statement-catalog.ts';
export type {
  AnySchema,
  Issue,
  SchemaInput,
  SchemaOutput,
} from '../shared/statements/standard-schema.ts';
