/** The options of a D1 binding. */
import { check } from '../../correctable/errors.ts';
import { checkOptionNames, hasMethods, type OptionNamesOf } from '../../correctable/validate.ts';
import type { ReplicasOptions } from '../replicas/index.ts';
import type { CheckedStatement } from '../shared/statements/statement-catalog.ts';
import type { D1DatabaseLike } from './driver.ts';
import { getStatements, type Statements } from './statements.ts';

export interface D1Options extends ReplicasOptions {
  /** The D1 binding of a Worker, as `env.DB`. */
  readonly database: D1DatabaseLike;
  /**
   * The application's own statements, made by `defineStatements` or `implementStatements`. Default:
   * none
   */
  readonly statements?: Statements | readonly Statements[] | undefined;
}

export interface ResolvedOptions {
  readonly database: D1DatabaseLike;
  readonly statements: readonly CheckedStatement[];
}

const CALL = 'd1({ database: env.DB })';

const OPTIONS: OptionNamesOf<D1Options> = {
  database: true,
  statements: true,
  tokenKey: true,
  onAlarm: true,
};

/** @throws CorrectableError `INVALID_ARGUMENT` that names the field */
export function resolveOptions(options: D1Options): ResolvedOptions {
  checkOptionNames(options, { call: CALL }, OPTIONS);
  const { database, statements = [] } = options;
  check(
    hasMethods(database, 'withSession'),
    'database',
    `must be a D1 binding with withSession: write ${CALL}`,
  );
  return { database, statements: getStatements(statements) };
}
