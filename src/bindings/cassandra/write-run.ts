/** Executes one update once, and reports its outcome as far as it is known. */
import type { SubmissionStatus } from '../../correctable/binding.ts';
import type { Cluster } from './connection.ts';
import {
  createAbandonedError,
  createClosedError,
  toCorrectableError,
  createUnexpectedReplyError,
} from './errors.ts';
import type { Consistency, Level } from './consistency-levels.ts';
import type { ReadResult, StatementPlan } from './statement-plan.ts';
import type { OperationCall } from './read-run.ts';
import type { ReadStatsCollector } from './session-guarantees/read-stats.ts';

export interface WriteRunOptions extends OperationCall {
  readonly cluster: Cluster;
  readonly statsCollector: ReadStatsCollector;
  readonly writeConsistency: Consistency;
  /**
   * The level of the update's only view. There is no weaker one, because fewer replicas than
   * `write` guarantee nothing.
   */
  readonly level: Level;
  readonly onEnded: () => void;
}

export class WriteRun implements SubmissionStatus {
  readonly blockedBy = undefined;
  readonly #options: WriteRunOptions;
  mayHaveBeenSent = false;
  #hasEnded = false;

  constructor(parts: WriteRunOptions) {
    this.#options = parts;
  }

  async start(): Promise<void> {
    const { plan, context, cluster, writeConsistency } = this.#options;
    context.submissionStatus = this;
    let isSent = false;
    try {
      if (!cluster.isConnected) {
        await cluster.connect();
        // If the caller gave up while the update waited, its error reports that nothing was sent.
        // So do not send the update now.
        if (context.signal.aborted) this.#end();
      }
      if (this.#hasEnded) return;
      // With a connection, the update runs to its end, even if its caller leaves while its text is
      // prepared.
      this.mayHaveBeenSent = true;
      const page = await cluster.write({ ...plan, consistency: writeConsistency }, () => {
        isSent = !this.#hasEnded;
        return isSent;
      });
      this.#handleReply(page);
    } catch (error) {
      // If the connection or the preparation failed before the update could be sent, the update was
      // certainly not made.
      this.#fail(toCorrectableError(error, isSent ? plan : { ...plan, access: 'read' }));
    }
  }

  close(): void {
    this.#fail(
      this.mayHaveBeenSent ? createAbandonedError(this.#options.plan.name) : createClosedError(),
    );
  }

  #handleReply(page: Parameters<StatementPlan['interpretPage']>[0]): void {
    const { plan, sink, session, statsCollector, level } = this.#options;
    let meaning: ReadResult;
    try {
      meaning = plan.interpretPage(page);
    } catch (error) {
      return this.#fail(createUnexpectedReplyError(plan.name, error));
    }
    statsCollector.recordWrite(meaning);
    session?.recordWrite(meaning.objects);
    const { value, version } = meaning;
    if (this.#end()) sink.view(value, level, version === undefined ? undefined : { version });
  }

  #fail(error: unknown): void {
    if (this.#end()) this.#options.sink.fail(error);
  }

  /** Ends the write. Returns `false` if it has ended already. */
  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#options.onEnded();
    return true;
  }
}
