/** One update on its way: executed once, and told as what is known of it. */
import type { Whereabouts } from '../../correctable/binding.ts';
import type { Cluster } from './cluster.ts';
import { abandonedError, closedError, correctableError, unexpectedAnswer } from './failures.ts';
import type { Consistency, Level } from './levels.ts';
import type { Meaning, Plan } from './plan.ts';
import type { Call } from './read-run.ts';
import type { Tally } from './sessions/tally.ts';

/** What a run works with. */
export interface UpdateRunParts extends Call {
  readonly cluster: Cluster;
  readonly tally: Tally;
  /** How many replicas are to have it. */
  readonly write: Consistency;
  /** What its only view is called: fewer replicas than `write` promise nothing. */
  readonly level: Level;
  /** Called when there is nothing more to come. */
  readonly ended: () => void;
}

export class UpdateRun implements Whereabouts {
  readonly obstacle = undefined;
  readonly #parts: UpdateRunParts;
  #mayHaveLeft = false;
  #isOver = false;

  constructor(parts: UpdateRunParts) {
    this.#parts = parts;
  }

  get mayHaveLeft(): boolean {
    return this.#mayHaveLeft;
  }

  async start(): Promise<void> {
    const { plan, context, cluster, write } = this.#parts;
    context.whereabouts = this;
    try {
      if (!cluster.isConnected) {
        await cluster.connected();
        // Who has gone while it waited was told that it was not made: from here on nobody can go before it is sent.
        if (context.signal.aborted) this.#end();
      }
      if (this.#isOver) return;
      this.#mayHaveLeft = true;
      this.#answered(await cluster.update({ ...plan, consistency: write }));
    } catch (error) {
      const { name: operation, hint, isOneMutation } = plan;
      // What failed before it could leave was a connection: however that ended, the update was not made.
      const effect = this.#mayHaveLeft ? 'update' : 'read';
      this.#fail(correctableError(error, { effect, operation, hint, isOneMutation }));
    }
  }

  /** The binding closes. */
  close(): void {
    this.#fail(this.#mayHaveLeft ? abandonedError(this.#parts.plan.name) : closedError());
  }

  #answered(page: Parameters<Plan['meaningOf']>[0]): void {
    const { plan, sink, session, tally, level } = this.#parts;
    let meaning: Meaning;
    try {
      meaning = plan.meaningOf(page);
    } catch (error) {
      return this.#fail(unexpectedAnswer(plan.name, error));
    }
    tally.learn(meaning);
    session?.wrote(meaning.objects);
    const { value, version } = meaning;
    if (this.#end()) sink.update(value, level, version === undefined ? undefined : { version });
  }

  #fail(error: unknown): void {
    if (this.#end()) this.#parts.sink.fail(error);
  }

  /** @returns whether it had not ended before */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#parts.ended();
    return true;
  }
}
