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
    const early = preliminary === undefined ? undefined : new EarlyRead(this.#read(statement, preliminary), sink);
    this.#read(statement, consistency).then(
      (page) => {
        if (early?.isSame(page) === true) sink.confirm();
        else sink.final(page);
      },
      // What one replica has is worth more where a quorum cannot be had: it goes first.
      async (error: unknown) => {
        await early?.told;
        sink.fail(error);
      },
    );
  }

  async close(): Promise<void> {}

  #read(statement: ReadStatement, consistency: Consistency): Promise<Page> {
    return this.#cluster.execute({ ...statement, consistency, isIdempotent: true });
  }
}

/** The read of one replica. */
class EarlyRead {
  /** Resolves once the sink has been told what became of it. */
  readonly told: Promise<void>;
  #page: Page | undefined;
  #isLate = false;

  constructor(reading: Promise<Page>, sink: ReadSink) {
    this.told = reading.then(
      (page) => {
        if (this.#isLate) return;
        this.#page = page;
        sink.preliminary(page);
      },
      (error: unknown) => {
        if (!this.#isLate) sink.preliminaryFailed(error);
      },
    );
  }

  /** Whether it was told and is the same as the final page. From now on it is too late to tell it. */
  isSame(page: Page): boolean {
    this.#isLate = true;
    return (
      this.#page !== undefined &&
      this.#page.pageState === page.pageState &&
      structurallyEqual(this.#page.rows, page.rows)
    );
  }
}
