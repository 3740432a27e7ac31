/**
 * Reads from any cluster by two concurrent requests through one coordinator. If both return the
 * same, the final view confirms the preliminary one.
 */
import { structurallyEqual } from '../../correctable/structural-equality.ts';
import type { StatementExecution } from './connection.ts';
import type { Consistency } from './consistency-levels.ts';
import type { Page, ReadStrategy, ReadRequest, ReadSink, ReadStatement } from './read-strategy.ts';

/** Executes statements on a cluster, which its caller closes. */
export interface StatementExecutor {
  execute(execution: StatementExecution): Promise<Page>;
}

export function createDriverReads(cluster: StatementExecutor): ReadStrategy {
  const execute = (statement: ReadStatement, consistency: Consistency): Promise<Page> =>
    cluster.execute({ ...statement, consistency, isIdempotent: true });

  function read(
    statement: ReadStatement,
    { consistency, preliminaryConsistency }: ReadRequest,
    sink: ReadSink,
  ): void {
    let early: Page | undefined;
    let isLate = false;
    const reported =
      preliminaryConsistency &&
      execute(statement, preliminaryConsistency).then(
        (page) => {
          if (isLate) return;
          early = page;
          sink.deliverPreliminary(page);
        },
        (error: unknown) => {
          if (!isLate) sink.failPreliminary(error);
        },
      );
    execute(statement, consistency).then(
      (page) => {
        isLate = true;
        const isSame =
          early !== undefined &&
          early.pageState === page.pageState &&
          structurallyEqual(early.rows, page.rows);
        if (isSame) sink.confirm();
        else sink.deliverFinal(page);
      },
      // If a quorum fails, the preliminary view is still useful, so it is delivered first.
      async (error: unknown) => {
        await reported;
        sink.fail(error);
      },
    );
  }

  return { read, close: async () => {} };
}
