/** Prepared statements: asked for once, and again where a node has forgotten one. */
import { RecentMap } from '../sessions/recent-map.ts';
import type { Column } from './columns.ts';
import type { Connection } from './connection.ts';
import { StatementCoverage } from './coverage.ts';
import { CqlError } from './cql-error.ts';
import { prepareFrame } from './requests.ts';

export interface Statement {
  readonly id: Buffer;
  readonly parameters: readonly Column[];
  /** Whether the coordinator gives preliminary views of it. */
  readonly coverage: StatementCoverage;
}

/** Most statements that are remembered; the oldest is forgotten first. Every node keeps its own. */
const STATEMENTS_MAX = 1_000;

export class Statements {
  readonly #prepareTimeoutMs: number;
  readonly #known = new RecentMap<Statement>(STATEMENTS_MAX);
  readonly #underWay = new WeakMap<Connection, Map<string, Promise<Statement>>>();

  /** `prepareTimeoutMs`: after that an answer counts as lost, and the next who wants the statement asks again. */
  constructor(prepareTimeoutMs: number) {
    this.#prepareTimeoutMs = prepareTimeoutMs;
  }

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
    const response = await connection.ask(prepareFrame(cql), this.#prepareTimeoutMs);
    if (response.kind === 'error') {
      const { error } = response;
      throw new CqlError('SERVER', error.message, { node: connection.node, server: error });
    }
    if (response.kind !== 'prepared') {
      throw new CqlError('PROTOCOL', `"${response.kind}" where a prepared statement was due`, {
        node: connection.node,
      });
    }
    const { id, parameters } = response.statement;
    const statement: Statement = { id, parameters, coverage: new StatementCoverage() };
    this.#known.set(cql, statement);
    return statement;
  }
}
