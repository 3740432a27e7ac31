/**
 * A client of a pool, while one operation uses it. Afterwards it is given back to the pool only if
 * it can be trusted: the connection works, no transaction is open, and no answer is outstanding.
 */
import { getSilenceMs } from '../../shared/connections/silence.ts';
import { watchAnswer } from '../../shared/connections/answer-watch.ts';
import { getApplicationParser, OWN_PARSERS } from './column-parsers.ts';
import type { DriverClient } from '../driver.ts';
import type { ColumnType, Outcomes, SqlPage, SqlStatement } from './server.ts';
import { findSqlState } from '../sql-state.ts';
import { getStatementName, renameStatement } from './statement-names.ts';

/**
 * A prepared statement no longer works, because a migration has changed its columns or another
 * program has removed it. Nothing was executed.
 */
export class StaleStatementError extends Error {}

export interface LentClientOptions {
  readonly client: DriverClient;
  /** Whether to prepare statements by name. */
  readonly prepare: boolean;
  readonly deadlineAt: number | undefined;
  /** Asks on another connection. Rejects if the server does not answer there. */
  readonly mayStillAnswer: () => Promise<boolean>;
  /** Called when the connection turns out to be lost. */
  readonly onLost: () => void;
}

export class LentClient {
  readonly #options: LentClientOptions;
  /** Whether the connection has reported an error. */
  #isBroken = false;
  /** Why it was given up. */
  #lost: Error | undefined;
  readonly #onError = (): void => void (this.#isBroken = true);

  constructor(options: LentClientOptions) {
    this.#options = options;
    // A connection that breaks may report several errors, also later. Without a listener, they
    // would end the process.
    options.client.on('error', this.#onError);
  }

  /** @throws StaleStatementError if nothing was executed */
  async run(statements: readonly SqlStatement[], isRepeatable: boolean): Promise<Outcomes> {
    const { client, deadlineAt, mayStillAnswer } = this.#options;
    const stopWatch = watchAnswer({
      silenceMs: getSilenceMs(deadlineAt),
      countReceived: () => countProgress(client),
      mayStillAnswer,
      giveUp: (reason) => this.#giveUp(reason),
    });
    try {
      const names = statements.map(({ text }) => this.#nameStatement(text));
      const outcomes = await Promise.allSettled(
        sendTogether(client, () =>
          statements.map((statement, at) => this.#query(statement, names[at])),
        ),
      );
      if (this.#lost !== undefined) return outcomes.map(this.#explainLoss);
      const staleAt = findStale(names, outcomes);
      if (staleAt === undefined) return outcomes;
      this.#leaveStale(statements[staleAt]!.text, names[staleAt]!, outcomes[staleAt]!);
      if (isRepeatable && isUndone(statements, staleAt)) throw new StaleStatementError();
      return outcomes;
    } finally {
      stopWatch();
    }
  }

  /** @param isTrusted whether other operations may use the connection */
  release(isTrusted: boolean): void {
    const { client } = this.#options;
    if (!this.#isBroken && this.#lost === undefined && isTrusted)
      client.removeListener('error', this.#onError);
    // A server that is gone does not answer a farewell.
    if (!isTrusted) client.connection?.stream?.destroy?.();
    client.release(
      this.#isBroken || this.#lost !== undefined || !isTrusted || isInTransaction(client),
    );
  }

  #giveUp(reason: Error): void {
    const { client, onLost } = this.#options;
    this.#lost = reason;
    onLost();
    // All statements in flight now fail.
    client.connection?.stream?.destroy?.();
  }

  /**
   * A statement whose columns have changed gets another name. If statements were removed, all
   * others of the connection may be missing as well, so it is closed.
   */
  #leaveStale(text: string, name: string, outcome: Outcomes[number]): void {
    const { reason } = outcome as PromiseRejectedResult;
    if (hasChangedColumns(reason)) renameStatement(text, name);
    else this.#isBroken = true;
  }

  readonly #explainLoss = (outcome: Outcomes[number]): Outcomes[number] => {
    const isOfServer = outcome.status === 'fulfilled' || findSqlState(outcome.reason) !== undefined;
    return isOfServer ? outcome : { status: 'rejected', reason: this.#lost };
  };

  /**
   * The limits of a transaction are not prepared: if only a `begin` were missing, the statements
   * after it would be transactions of their own.
   */
  #nameStatement(text: string): string | undefined {
    return this.#options.prepare && !TRANSACTION_LIMIT.test(text)
      ? getStatementName(text)
      : undefined;
  }

  async #query(
    { text, values, columns = 'text' }: SqlStatement,
    name: string | undefined,
  ): Promise<SqlPage> {
    const { client } = this.#options;
    const { rows, rowCount, fields } = await client.query({
      text,
      values: [...values],
      types: {
        getTypeParser: (oid, format) =>
          columns === 'application'
            ? getApplicationParser(client, oid, format)
            : OWN_PARSERS[columns],
      },
      ...(name !== undefined && { name }),
    });
    return {
      rows: rows as SqlPage['rows'],
      pageState: undefined,
      changedRows: rowCount ?? 0,
      ...(columns === 'raw' && {
        columnTypes: fields?.map((field): ColumnType => [
          field.name,
          field.dataTypeID,
          field.format,
        ]),
      }),
    };
  }
}

/** What was received, less what is still to be sent. */
function countProgress({ connection }: DriverClient): number {
  const { bytesRead = 0, writableLength = 0 } = connection?.stream ?? {};
  return bytesRead - writableLength;
}

/** The name of the function of PostgreSQL that reports it, in any language. */
const CHANGED_COLUMNS = 'RevalidateCachedQuery';
const NO_SUCH_STATEMENT = '26000';

const TRANSACTION_LIMIT = /^(begin|commit|rollback)\b/;

/** Returns the first failure, if it is that of a statement that is not valid. */
function findStale(names: readonly (string | undefined)[], outcomes: Outcomes): number | undefined {
  const at = outcomes.findIndex(({ status }) => status === 'rejected');
  const outcome = outcomes[at];
  if (outcome?.status !== 'rejected' || names[at] === undefined) return undefined;
  const { reason } = outcome;
  const isStale = hasChangedColumns(reason) || findSqlState(reason) === NO_SUCH_STATEMENT;
  return isStale ? at : undefined;
}

/**
 * Returns whether nothing of a batch was executed: its first statement has failed, or one of the
 * transaction that it has begun, before that was committed.
 */
function isUndone(statements: readonly SqlStatement[], at: number): boolean {
  if (at === 0) return true;
  const end = statements.findIndex(({ text }) => text === 'commit');
  return /^begin\b/.test(statements[0]!.text) && (end < 0 || at <= end);
}

function hasChangedColumns(error: unknown): boolean {
  return (Object(error) as { readonly routine?: unknown }).routine === CHANGED_COLUMNS;
}

/**
 * Returns whether a transaction is certainly open, or has failed. Such a connection is closed,
 * which rolls it back. Otherwise the writes of others would become part of it, and be lost with it.
 */
function isInTransaction(client: DriverClient): boolean {
  const status = client.getTransactionStatus?.();
  return status === 'T' || status === 'E';
}

/** Lets the statements travel in one packet: most of the work is to send one. */
function sendTogether<T>({ connection }: DriverClient, send: () => T): T {
  const stream = connection?.stream;
  stream?.cork?.();
  try {
    return send();
  } finally {
    stream?.uncork?.();
  }
}
