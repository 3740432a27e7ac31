/**
 * `correctables/bindings/d1`: reads on the replicas and the primary of Cloudflare D1, and
 * statements of your own. For Workers with `nodejs_compat`.
 */
export { d1 } from './binding.ts';
export type { D1Options } from './options.ts';
export { migrations } from './migrations.ts';
export type { D1DatabaseLike, D1ResultLike, D1SessionLike, D1StatementLike } from './driver.ts';
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
export { defineStatements, failIfUnchanged, implementStatements, statement } from './statements.ts';
export type {
  AnySpec,
  AnySpecs,
  Implementations,
  Statements,
  StatementSpec,
  StatementText,
} from './statements.ts';
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
