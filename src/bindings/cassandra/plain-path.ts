/**
 * Way 1, any cluster: two reads through one coordinator, started together. The later one confirms the earlier one where
 * both gave the same.
 */
import { structurallyEqual } from '../../correctable/equal.ts';
import type { Cluster } from './cluster.ts';
import type { Consistency } from './levels.ts';
import type { Page, ReadPath, ReadRequest, ReadSink, ReadStatement } from './read-path.ts';

export class PlainPath implements ReadPath {
  readonly #cluster: Pick<Cluster, 'execute'>;

  /** The cluster stays the caller's to close. */
  constructor(cluster: Pick<Cluster, 'execute'>) {
    this.#cluster = cluster;
  }

  read(statement: ReadStatement, { consistency, preliminary }: ReadRequest, sink: ReadSink): void {
    let early: Page | undefined;
    let isLate = false;
    const told =
      preliminary &&
      this.#read(statement, preliminary).then(
        (page) => {
          if (isLate) return;
          early = page;
          sink.preliminary(page);
        },
        (error: unknown) => {
          if (!isLate) sink.preliminaryFailed(error);
        },
      );
    this.#read(statement, consistency).then(
      (page) => {
        isLate = true;
        if (early !== undefined && isSame(early, page)) sink.confirm();
        else sink.final(page);
      },
      // What one replica has is worth more where a quorum cannot be had: it goes first.
      async (error: unknown) => {
        await told;
        sink.fail(error);
      },
    );
  }

  async close(): Promise<void> {}

  #read(statement: ReadStatement, consistency: Consistency): Promise<Page> {
    return this.#cluster.execute({ ...statement, consistency, isIdempotent: true });
  }
}

function isSame(a: Page, b: Page): boolean {
  return a.pageState === b.pageState && structurallyEqual(a.rows, b.rows);
}
