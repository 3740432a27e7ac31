/** Prepared statements: asked for once, and again where a node has forgotten one. */
import { hasUserType, type Column } from './columns.ts';
import type { Connection } from './connection.ts';
import { Coverage } from './coverage.ts';
import { CqlError } from './cql-error.ts';
import { prepareFrame } from './requests.ts';
import type { Prepared } from './responses.ts';

export interface Statement {
  readonly id: Buffer;
  readonly parameters: readonly Column[];
  /** The columns of the result, for answers that come without. */
  readonly columns: readonly Column[];
  /** Whether nodes may leave the columns out. */
  readonly skipMetadata: boolean;
  /** Whether the coordinator gives preliminary views of it: of the first page, and of those that follow. */
  readonly coverage: { readonly first: Coverage; readonly later: Coverage };
}

/** Most statements that are remembered; the oldest is forgotten first. Every node keeps its own. */
const STATEMENTS_MAX = 1_000;

export class Statements {
  readonly #known = new Map<string, Statement>();
  readonly #underWay = new WeakMap<Connection, Map<string, Promise<Statement>>>();

  known(cql: string): Statement | undefined {
    return this.#known.get(cql);
  }

  /**
   * Prepares a statement, whether it is known or not; those who want the same at the same time share one request.
   *
   * @throws CqlError
   */
  prepare(connection: Connection, cql: string): Promise<Statement> {
    const underWay = this.#underWay.get(connection) ?? new Map<string, Promise<Statement>>();
    this.#underWay.set(connection, underWay);
    const existing = underWay.get(cql);
    if (existing !== undefined) return existing;
    const preparing = this.#ask(connection, cql).finally(() => underWay.delete(cql));
    underWay.set(cql, preparing);
    return preparing;
  }

  async #ask(connection: Connection, cql: string): Promise<Statement> {
    const response = await connection.ask(prepareFrame(cql));
    if (response.kind === 'error') {
      const { error } = response;
      throw new CqlError('SERVER', error.message, { node: connection.node, server: error });
    }
    if (response.kind !== 'prepared') {
      throw new CqlError('PROTOCOL', `"${response.kind}" where a prepared statement was due`, {
        node: connection.node,
      });
    }
    const statement = statementOf(cql, response.statement);
    this.#known.delete(cql);
    this.#known.set(cql, statement);
    const [oldest] = this.#known.keys();
    if (this.#known.size > STATEMENTS_MAX && oldest !== undefined) this.#known.delete(oldest);
    return statement;
  }
}

/**
 * In version 4 of the protocol a statement keeps its number when a table gets another column, so that the columns known
 * here could be those of before: they are left out only where none of that shows.
 */
function statementOf(cql: string, { id, parameters, result }: Prepared): Statement {
  const columns = result.columns ?? [];
  const isFixed = columns.length > 0 && !cql.includes('*') && !hasUserType(columns);
  return { id, parameters, columns, skipMetadata: isFixed, coverage: { first: new Coverage(), later: new Coverage() } };
}
