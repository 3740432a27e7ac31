/** Prepares statements once, and again if a node has forgotten one. */
import { PreparedTexts } from '../../bindings/cassandra/prepared-texts.ts';
import { RecentMap } from '../../bindings/shared/recent-map.ts';
import type { Column } from './columns.ts';
import type { Connection } from './connection.ts';
import { StatementAvailability } from './preliminary-availability.ts';
import { CqlError } from './cql-error.ts';
import { encodePrepare } from './requests.ts';

export interface PreparedStatement {
  readonly id: Buffer;
  readonly parameters: readonly Column[];
  readonly availability: StatementAvailability;
}

/**
 * Maximum number of remembered statements. The oldest is dropped first. Every node has statements
 * of its own.
 */
const MAX_STATEMENTS = 1_000;

export class PreparedStatements {
  readonly #prepareTimeoutMs: number;
  readonly #texts = new PreparedTexts();
  readonly #prepared = new RecentMap<PreparedStatement>(MAX_STATEMENTS);
  readonly #preparing = new WeakMap<Connection, Map<string, Promise<PreparedStatement>>>();

  /**
   * After `prepareTimeoutMs` a reply counts as lost, and the next caller prepares the statement
   * again.
   */
  constructor(prepareTimeoutMs: number) {
    this.#prepareTimeoutMs = prepareTimeoutMs;
  }

  getPrepared(cql: string): PreparedStatement | undefined {
    return this.#prepared.get(cql);
  }

  /** Prepares a statement, even a known one. Concurrent callers share one request. */
  prepare(connection: Connection, cql: string): Promise<PreparedStatement> {
    const inFlight =
      this.#preparing.get(connection) ?? new Map<string, Promise<PreparedStatement>>();
    this.#preparing.set(connection, inFlight);
    const existing = inFlight.get(cql);
    if (existing !== undefined) return existing;
    const preparing = this.#requestPrepare(connection, cql).finally(() => inFlight.delete(cql));
    inFlight.set(cql, preparing);
    return preparing;
  }

  async #requestPrepare(connection: Connection, cql: string): Promise<PreparedStatement> {
    const response = await connection.request(
      // Another text each time, so that keys encoded by former types are refused.
      encodePrepare(this.#texts.create(cql)),
      this.#prepareTimeoutMs,
    );
    if (response.kind === 'error') {
      const { error } = response;
      throw new CqlError('SERVER', error.message, {
        node: connection.node,
        server: error,
      });
    }
    if (response.kind !== 'prepared') {
      throw new CqlError('PROTOCOL', `"${response.kind}" where a prepared statement was due`, {
        node: connection.node,
      });
    }
    const { id, parameters } = response;
    const statement: PreparedStatement = {
      id,
      parameters,
      availability: new StatementAvailability(),
    };
    this.#prepared.set(cql, statement);
    return statement;
  }
}
