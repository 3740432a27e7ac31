/** Executes one read: converts pages to views. */
import type { InvocationContext, Sink } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import { createClosedError, toCorrectableError } from './errors.ts';
import type { Consistency, Level } from './consistency-levels.ts';
import type { ReadResult, StatementPlan } from './statement-plan.ts';
import type { Page, ReadStrategy, ReadSink } from './read-strategy.ts';
import type {
  ReadCertainty,
  SessionGuarantees,
  SessionRead,
} from './session-guarantees/session-guarantees.ts';
import type { ReadObservation } from './session-guarantees/read-stats.ts';
import { writeClock } from './session-guarantees/write-clock.ts';

export interface OperationCall {
  readonly plan: StatementPlan;
  readonly levels: readonly Level[];
  readonly sink: Sink<unknown, Level>;
  readonly session: SessionGuarantees | undefined;
  readonly context: InvocationContext;
}

export interface ReadRunOptions extends OperationCall {
  readonly observation: ReadObservation;
  readonly strategy: ReadStrategy;
  readonly weakConsistency: Consistency;
  /** The number of replicas of the final view, and the name of its level. */
  readonly readConsistency: Consistency;
  readonly finalLevel: 'strong' | 'quorum';
  readonly onEnded: () => void;
}

export class ReadRun implements ReadSink {
  readonly #options: ReadRunOptions;
  readonly #session: SessionRead | undefined;
  /** The level of the final view, which determines its consistency. */
  #level: Level;
  #consistency: Consistency;
  #preliminary:
    | {
        readonly page: Page;
        readonly meaning: ReadResult | undefined;
        readonly seq: number | undefined;
      }
    | undefined;
  /** Rows of earlier pages. */
  #fetchedRows: readonly Page['rows'][] = [];
  /**
   * The result at `strong`, kept while all replicas are read to find out whether the session may
   * see it.
   */
  #lastResult: ReadResult | undefined;
  /** Whether the replicas were read once more because they were behind the session. */
  #hasRetried = false;
  #hasEnded = false;

  constructor(parts: ReadRunOptions) {
    const { levels, finalLevel, readConsistency, weakConsistency, session, plan } = parts;
    const isWeakOnly = !levels.includes(finalLevel);
    this.#options = parts;
    this.#session = session?.beginRead(plan.ids);
    this.#level = isWeakOnly ? 'weak' : finalLevel;
    this.#consistency = isWeakOnly ? weakConsistency : readConsistency;
  }

  start(): void {
    const { levels, weakConsistency } = this.#options;
    const both =
      this.#level !== 'weak' && levels.includes('weak') && !isSingleReplica(this.#consistency);
    this.#readPage(undefined, both ? weakConsistency : undefined);
  }

  close(): void {
    if (this.#end()) this.#options.sink.fail(createClosedError());
  }

  deliverPreliminary(page: Page): void {
    const { sink, observation } = this.#options;
    this.#preliminary = { page, meaning: undefined, seq: undefined };
    // Do not deliver a preliminary view that has more than one page: it would need a second
    // request.
    if (this.#hasEnded || this.#isTruncated(page) || !this.#isFinalRequested) return;
    try {
      const meaning = this.#interpretPage(page);
      if (this.#session?.canShow(meaning.objects) === false) return;
      this.#session?.recordPreliminary(meaning.objects);
      observation.preliminary = meaning;
      this.#preliminary = {
        page,
        meaning,
        seq: sink.view(meaning.value, 'weak', toDetails(meaning)),
      };
    } catch (error) {
      this.failPreliminary(error);
    }
  }

  failPreliminary(error: unknown): void {
    if (!this.#hasEnded) this.#options.sink.fail(this.#translateError(error), 'weak');
  }

  confirm(): void {
    if (this.#preliminary === undefined) {
      this.fail(
        new CorrectableError('PROTOCOL', 'the coordinator confirmed a view that it never gave'),
      );
      return;
    }
    const { page, meaning, seq } = this.#preliminary;
    if (meaning === undefined || seq === undefined) return this.deliverFinal(page);
    if (this.#isBehindSession(meaning)) return this.#retry(meaning);
    if (this.#endWithFinal(meaning, this.#certainty) && this.#isFinalRequested)
      this.#options.sink.confirm(this.#level, seq);
  }

  deliverFinal(page: Page): void {
    if (this.#isTruncated(page)) {
      this.#fetchedRows = [...this.#fetchedRows, page.rows];
      return this.#readNextPage(page.pageState);
    }
    let meaning: ReadResult;
    try {
      meaning = this.#interpretPage({
        rows: [...this.#fetchedRows.flat(), ...page.rows],
        pageState: page.pageState,
      });
    } catch (error) {
      return this.fail(error);
    }
    const stronger = this.#getStrongerConsistency(meaning);
    if (stronger !== undefined) {
      if (this.#level === 'strong') this.#lastResult = meaning;
      return this.#readStronger(stronger);
    }
    // All replicas are read now, so the earlier result of fewer replicas is stale, or is no
    // fallback any more.
    if (this.#consistency === 'ALL') this.#lastResult = undefined;
    if (this.#isBehindSession(meaning)) return this.#retry(meaning);
    this.#deliverFinal(meaning, this.#certainty);
  }

  /** If not all replicas can be read, those of the earlier result still satisfy `strong`. */
  fail(error: unknown): void {
    if (this.#lastResult !== undefined)
      this.#deliverFinal(this.#lastResult, {
        isCertain: true,
        isSettled: false,
      });
    else if (this.#end()) this.#options.sink.fail(this.#translateError(error));
  }

  #deliverFinal(meaning: ReadResult, knowledge: ReadCertainty): void {
    if (this.#endWithFinal(meaning, knowledge) && this.#isFinalRequested) {
      this.#options.sink.view(meaning.value, this.#level, toDetails(meaning));
    }
  }

  /**
   * Ends the read with a final view. The caller then has to deliver it.
   * @returns whether it had not ended before
   */
  #endWithFinal(meaning: ReadResult, knowledge: ReadCertainty): boolean {
    if (!this.#end()) return false;
    this.#session?.recordFinal(meaning.objects, knowledge);
    if (this.#level !== 'weak') this.#options.observation.recordFinal(meaning);
    return true;
  }

  /** Whether a caller still waits for the views. Checked before each further request. */
  get #isFinalRequested(): boolean {
    return !this.#options.context.signal.aborted;
  }

  /** Read repair writes the result of a quorum to a quorum, so the next read finds it. */
  get #certainty(): ReadCertainty {
    const isCertain = this.#level === 'strong' || this.#consistency === 'ALL';
    return {
      isCertain,
      isSettled: isCertain && /QUORUM$|^ALL$/.test(this.#consistency),
    };
  }

  /** Returns the result of a page. A later write must get a later time than the versions in it. */
  #interpretPage(page: Page): ReadResult {
    const meaning = this.#options.plan.interpretPage(page);
    if (meaning.objects === undefined) writeClock.advanceTo(meaning.version);
    meaning.objects?.forEach(({ id, version }) => writeClock.advanceTo(version, id));
    return meaning;
  }

  #readPage(pageState: string | undefined, preliminaryConsistency: Consistency | undefined): void {
    const { plan, strategy } = this.#options;
    const { cql, params, pageSize } = plan;
    strategy.read(
      { cql, params, pageSize, pageState: pageState ?? plan.pageState },
      { consistency: this.#consistency, preliminaryConsistency },
      this,
    );
  }

  /** Continues a read after one reply, unless no caller waits any more. */
  #readNextPage(pageState: string | undefined): void {
    if (this.#hasEnded) return;
    if (this.#isFinalRequested) this.#readPage(pageState, undefined);
    else this.#end();
  }

  /** Returns whether more is to be fetched. Cassandra may end a page before it is full. */
  #isTruncated({ rows, pageState }: Page): boolean {
    const { isPaged, pageSize } = this.#options.plan;
    const fetched = this.#fetchedRows.reduce((sum, { length }) => sum + length, rows.length);
    return isPaged !== true && pageState !== undefined && fetched < pageSize;
  }

  /**
   * Returns how many replicas to read next, if the reply does not show whether the session may see
   * the result.
   */
  #getStrongerConsistency({ objects }: ReadResult): Consistency | undefined {
    if (this.#session === undefined) return undefined;
    if (this.#level === 'weak')
      return this.#session.canShow(objects) ? undefined : this.#options.readConsistency;
    if (this.#consistency === 'ALL' || objects === undefined) return undefined;
    return this.#session.needsAllReplicas(objects, this.#certainty) ? 'ALL' : undefined;
  }

  #readStronger(consistency: Consistency): void {
    this.#level = this.#options.finalLevel;
    this.#consistency = consistency;
    this.#fetchedRows = [];
    this.#readNextPage(undefined);
  }

  /**
   * Returns whether the replicas are behind a view of one replica, because a write is still in
   * flight.
   */
  #isBehindSession({ objects }: ReadResult): boolean {
    return objects !== undefined && this.#session?.hasNewerVersion(objects) === true;
  }

  /**
   * Retries once, then fails. Cassandra keeps only one of two writes with the same time, so a
   * session may wait for a value that was lost. To fail only this read, the present value then
   * counts as seen.
   */
  #retry({ objects }: ReadResult): void {
    if (!this.#hasRetried) {
      this.#hasRetried = true;
      this.#fetchedRows = [];
      return this.#readNextPage(undefined);
    }
    this.#session?.recordFinal(objects, { isCertain: false, isSettled: false });
    const { name } = this.#options.plan;
    const message = `${name}: the replicas that were asked show something else than what this session has seen last: retry`;
    this.fail(new CorrectableError('REPLICA_BEHIND', message));
  }

  /** @returns whether it had not ended before */
  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#options.onEnded();
    return true;
  }

  #translateError(error: unknown): unknown {
    return toCorrectableError(error, this.#options.plan);
  }
}

/** A preliminary view of one replica adds nothing to a final view of one. */
function isSingleReplica(consistency: Consistency): boolean {
  return consistency === 'ONE' || consistency === 'LOCAL_ONE';
}

function toDetails({ version }: ReadResult): { readonly version?: number } | undefined {
  return version === undefined ? undefined : { version };
}
