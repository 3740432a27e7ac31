/** One read on its way: pages come in, views go out. */
import type { Sink } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Consistency } from './consistency.ts';
import { correctableError } from './failures.ts';
import type { Level } from './levels.ts';
import type { Meaning, Plan } from './plan.ts';
import type { Page, ReadPath, ReadSink } from './read-path.ts';
import type { ReadSession } from './session.ts';
import type { ReadTally } from './tally.ts';

/** What a run works with. */
export interface ReadRunParts {
  readonly plan: Plan;
  readonly levels: readonly Level[];
  readonly sink: Sink<unknown, Level>;
  readonly session: ReadSession | undefined;
  readonly tally: ReadTally;
  readonly path: ReadPath;
  readonly weak: Consistency;
  /** How many replicas the final view asks, and what its level is called. */
  readonly read: Consistency;
  readonly finalLevel: 'strong' | 'quorum';
  /** Called when there is nothing more to come. */
  readonly ended: () => void;
}

export class ReadRun implements ReadSink {
  readonly #parts: ReadRunParts;
  /** What the final view is going to be called, and asks. */
  #level: Level;
  #consistency: Consistency;
  #early: { readonly page: Page; readonly meaning: Meaning | undefined; readonly seq: number | undefined } | undefined;
  /** Rows of the pages before. */
  #fetched: readonly Page['rows'][] = [];

  constructor(parts: ReadRunParts) {
    const { levels, finalLevel, read, weak } = parts;
    const isWeakOnly = !levels.includes(finalLevel);
    this.#parts = parts;
    this.#level = isWeakOnly ? 'weak' : finalLevel;
    this.#consistency = isWeakOnly ? weak : read;
  }

  start(): void {
    const { levels, weak } = this.#parts;
    const both = this.#level !== 'weak' && levels.includes('weak') && !isOneReplica(this.#consistency);
    this.#ask(undefined, both ? weak : undefined);
  }

  preliminary(page: Page): void {
    const { plan, sink, session, tally } = this.#parts;
    this.#early = { page, meaning: undefined, seq: undefined };
    // What continues on another page is not worth a second request for a guess.
    if (this.#isCut(page)) return;
    try {
      const meaning = plan.meaningOf(page);
      if (session?.admits(meaning.objects) === false) return;
      session?.advanceTo(meaning.objects);
      tally.preliminary(meaning);
      this.#early = { page, meaning, seq: sink.update(meaning.value, 'weak', detailsOf(meaning)) };
    } catch (error) {
      this.preliminaryFailed(error);
    }
  }

  preliminaryFailed(error: unknown): void {
    this.#parts.sink.fail(this.#translated(error), 'weak');
  }

  confirm(): void {
    if (this.#early === undefined) {
      this.fail(new CorrectableError('PROTOCOL', 'the coordinator confirmed a view that it never gave'));
      return;
    }
    const { page, meaning, seq } = this.#early;
    if (meaning === undefined || seq === undefined) return this.final(page);
    if (this.#isBehindSession(meaning)) return;
    this.#parts.tally.final(meaning);
    this.#parts.sink.confirm(this.#level, seq);
    this.#parts.ended();
  }

  final(page: Page): void {
    if (this.#isCut(page)) {
      this.#fetched = [...this.#fetched, page.rows];
      this.#ask(page.pageState, undefined);
      return;
    }
    const { plan, sink, session, tally } = this.#parts;
    let meaning: Meaning;
    try {
      meaning = plan.meaningOf({ rows: [...this.#fetched.flat(), ...page.rows], pageState: page.pageState });
    } catch (error) {
      return this.fail(error);
    }
    if (this.#level === 'weak' && session?.admits(meaning.objects) === false) return this.#goStronger();
    if (this.#isBehindSession(meaning)) return;
    session?.advanceTo(meaning.objects);
    if (this.#level !== 'weak') tally.final(meaning);
    sink.update(meaning.value, this.#level, detailsOf(meaning));
    this.#parts.ended();
  }

  fail(error: unknown): void {
    this.#parts.sink.fail(this.#translated(error));
    this.#parts.ended();
  }

  #ask(pageState: string | undefined, preliminary: Consistency | undefined): void {
    const { plan, path } = this.#parts;
    const { cql, params, pageSize } = plan;
    path.read(
      { cql, params, pageSize, pageState: pageState ?? plan.pageState },
      { consistency: this.#consistency, preliminary },
      this,
    );
  }

  /** Whether more is to be fetched: Cassandra may end a page before it is full. */
  #isCut({ rows, pageState }: Page): boolean {
    const { isPaged, pageSize } = this.#parts.plan;
    const fetched = this.#fetched.reduce((sum, { length }) => sum + length, rows.length);
    return !isPaged && pageState !== undefined && fetched < pageSize;
  }

  /** One replica alone is behind what the session has seen: the next stronger level answers. */
  #goStronger(): void {
    const { finalLevel, read } = this.#parts;
    this.#level = finalLevel;
    this.#consistency = read;
    this.#fetched = [];
    this.#ask(undefined, undefined);
  }

  /** The replicas that were asked may be behind what one alone has shown: an honest failure, worth another try. */
  #isBehindSession({ objects }: Meaning): boolean {
    const { session, plan } = this.#parts;
    if (session === undefined || objects === undefined) return false;
    if (this.#level === 'quorum' ? session.admits(objects) : !session.isAhead(objects)) return false;
    const message = `${plan.name}: the replicas that were asked are behind what this session has seen: ask again`;
    this.fail(new CorrectableError('SESSION_BEHIND', message));
    return true;
  }

  #translated(error: unknown): unknown {
    const { name, pageState, hint } = this.#parts.plan;
    return correctableError(error, { effect: 'read', operation: name, pageState, hint });
  }
}

/** A preliminary view of one replica has nothing on a final view of one. */
function isOneReplica(consistency: Consistency): boolean {
  return consistency === 'ONE' || consistency === 'LOCAL_ONE';
}

function detailsOf({ version }: Meaning): { readonly version?: number } | undefined {
  return version === undefined ? undefined : { version };
}
