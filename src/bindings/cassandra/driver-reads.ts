/**
 * Way 1, any cluster: two reads through one coordinator at once. If both give
 * the same, the later one confirms.
 */
import { structurallyEqual } from '../../correctable/structural-equality.ts';
import type { Cluster } from './cluster.ts';
import type { Consistency } from './consistency-levels.ts';
import type {
  Page,
  ReadStrategy,
  ReadRequest,
  ReadSink,
  ReadStatement,
} from './read-strategy.ts';

/** The cluster stays the caller's to close. */
export function createDriverReads(
  cluster: Pick<Cluster, 'execute'>,
): ReadStrategy {
  const execute = (
    statement: ReadStatement,
    consistency: Consistency,
  ): Promise<Page> =>
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
      // What one replica has is worth more where a quorum cannot be had: it
      // goes first.
      async (error: unknown) => {
        await reported;
        sink.fail(error);
      },
    );
  }

  return { read, close: async () => {} };
}
