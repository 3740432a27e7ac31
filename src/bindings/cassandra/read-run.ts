/** One read on its way: pages come in, views go out. */
import type { InvocationContext, Sink } from '../../correctable/binding.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import { closedError, correctableError } from './failures.ts';
import type { Consistency, Level } from './levels.ts';
import type { Meaning, Plan } from './plan.ts';
import type { Page, ReadPath, ReadSink } from './read-path.ts';
import type { Knowledge, ReadSession, SessionRead } from './sessions/session.ts';
import type { ReadTally } from './sessions/tally.ts';
import { writeClock } from './sessions/write-clock.ts';

/** One operation in the hands of the binding. */
export interface Call {
  readonly plan: Plan;
  readonly levels: readonly Level[];
  readonly sink: Sink<unknown, Level>;
  readonly session: ReadSession | undefined;
  readonly context: InvocationContext;
}

/** What a run works with. */
export interface ReadRunParts extends Call {
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
  readonly #session: SessionRead | undefined;
  /** What the final view is going to be called, and asks. */
  #level: Level;
  #consistency: Consistency;
  #early: { readonly page: Page; readonly meaning: Meaning | undefined; readonly seq: number | undefined } | undefined;
  /** Rows of the pages before. */
  #fetched: readonly Page['rows'][] = [];
  /** What is true at `strong`, while all replicas are asked whether it is also what the session must be shown. */
  #last: Meaning | undefined;
  /** Whether the replicas were asked once more because they were behind the session. */
  #isSecondTry = false;
  #isOver = false;

  constructor(parts: ReadRunParts) {
    const { levels, finalLevel, read, weak, session, plan } = parts;
    const isWeakOnly = !levels.includes(finalLevel);
    this.#parts = parts;
    this.#session = session?.begin(plan.ids);
    this.#level = isWeakOnly ? 'weak' : finalLevel;
    this.#consistency = isWeakOnly ? weak : read;
  }

  start(): void {
    const { levels, weak } = this.#parts;
    const both = this.#level !== 'weak' && levels.includes('weak') && !isOneReplica(this.#consistency);
    this.#ask(undefined, both ? weak : undefined);
  }

  /** The binding closes. */
  close(): void {
    if (this.#end()) this.#parts.sink.fail(closedError());
  }

  preliminary(page: Page): void {
    const { sink, tally } = this.#parts;
    this.#early = { page, meaning: undefined, seq: undefined };
    // What continues on another page is not worth a second request for a guess.
    if (this.#isOver || this.#isCut(page) || !this.#isWanted) return;
    try {
      const meaning = this.#meaningOf(page);
      if (this.#session?.admits(meaning.objects) === false) return;
      this.#session?.showed(meaning.objects);
      tally.preliminary(meaning);
      this.#early = { page, meaning, seq: sink.update(meaning.value, 'weak', detailsOf(meaning)) };
    } catch (error) {
      this.preliminaryFailed(error);
    }
  }

  preliminaryFailed(error: unknown): void {
    if (!this.#isOver) this.#parts.sink.fail(this.#translated(error), 'weak');
  }

  confirm(): void {
    if (this.#early === undefined) {
      this.fail(new CorrectableError('PROTOCOL', 'the coordinator confirmed a view that it never gave'));
      return;
    }
    const { page, meaning, seq } = this.#early;
    if (meaning === undefined || seq === undefined) return this.final(page);
    if (this.#isBehindSession(meaning)) return this.#tryAgain(meaning);
    if (this.#conclude(meaning, this.#knowledge) && this.#isWanted) this.#parts.sink.confirm(this.#level, seq);
  }

  final(page: Page): void {
    if (this.#isCut(page)) {
      this.#fetched = [...this.#fetched, page.rows];
      return this.#askAgain(page.pageState);
    }
    let meaning: Meaning;
    try {
      meaning = this.#meaningOf({ rows: [...this.#fetched.flat(), ...page.rows], pageState: page.pageState });
    } catch (error) {
      return this.fail(error);
    }
    const stronger = this.#strongerFor(meaning);
    if (stronger !== undefined) {
      if (this.#level === 'strong') this.#last = meaning;
      return this.#goStronger(stronger);
    }
    // From here on what fewer replicas have shown is known to be behind, or is not asked for.
    if (this.#consistency === 'ALL') this.#last = undefined;
    if (this.#isBehindSession(meaning)) return this.#tryAgain(meaning);
    this.#tellFinal(meaning, this.#knowledge);
  }

  /** Where not all replicas can be asked, what `strong` promises is kept by those that were. */
  fail(error: unknown): void {
    if (this.#last !== undefined) this.#tellFinal(this.#last, { isSure: true, isSettled: false });
    else if (this.#end()) this.#parts.sink.fail(this.#translated(error));
  }

  #tellFinal(meaning: Meaning, knowledge: Knowledge): void {
    if (this.#conclude(meaning, knowledge) && this.#isWanted) {
      this.#parts.sink.update(meaning.value, this.#level, detailsOf(meaning));
    }
  }

  /** Ends the read with a final view, which is to be told then. @returns whether it had not ended before */
  #conclude(meaning: Meaning, knowledge: Knowledge): boolean {
    if (!this.#end()) return false;
    this.#session?.ended(meaning.objects, knowledge);
    if (this.#level !== 'weak') this.#parts.tally.final(meaning);
    return true;
  }

  /** Whether anybody waits for the views: asked before one more request is sent. */
  get #isWanted(): boolean {
    return !this.#parts.context.signal.aborted;
  }

  /** A quorum leaves what it shows with a quorum, by read repair: the next one finds it. */
  get #knowledge(): Knowledge {
    const isSure = this.#level === 'strong' || this.#consistency === 'ALL';
    return { isSure, isSettled: isSure && /QUORUM$|^ALL$/.test(this.#consistency) };
  }

  /** Whoever writes after a read writes later than what was read. */
  #meaningOf(page: Page): Meaning {
    const meaning = this.#parts.plan.meaningOf(page);
    if (meaning.objects === undefined) writeClock.passed(meaning.version);
    meaning.objects?.forEach(({ id, version }) => writeClock.passed(version, id));
    return meaning;
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

  /** Goes on with a read that took one answer already, unless nobody waits for it any more. */
  #askAgain(pageState: string | undefined): void {
    if (this.#isOver) return;
    if (this.#isWanted) this.#ask(pageState, undefined);
    else this.#end();
  }

  /** Whether more is to be fetched: Cassandra may end a page before it is full. */
  #isCut({ rows, pageState }: Page): boolean {
    const { isPaged, pageSize } = this.#parts.plan;
    const fetched = this.#fetched.reduce((sum, { length }) => sum + length, rows.length);
    return isPaged !== true && pageState !== undefined && fetched < pageSize;
  }

  /** How many replicas are to be asked instead, where one alone, or a few, cannot tell what the session must not see. */
  #strongerFor({ objects }: Meaning): Consistency | undefined {
    if (this.#session === undefined) return undefined;
    if (this.#level === 'weak') return this.#session.admits(objects) ? undefined : this.#parts.read;
    if (this.#consistency === 'ALL' || objects === undefined) return undefined;
    return this.#session.wantsAll(objects, this.#knowledge) ? 'ALL' : undefined;
  }

  #goStronger(consistency: Consistency): void {
    this.#level = this.#parts.finalLevel;
    this.#consistency = consistency;
    this.#fetched = [];
    this.#askAgain(undefined);
  }

  /** The replicas that were asked may be behind what one alone has shown, by a write that is just being made. */
  #isBehindSession({ objects }: Meaning): boolean {
    return objects !== undefined && this.#session?.isAhead(objects) === true;
  }

  /** Once more; after that an honest failure. Of two writes of one time only one is kept, for good: that is told once. */
  #tryAgain({ objects }: Meaning): void {
    if (!this.#isSecondTry) {
      this.#isSecondTry = true;
      this.#fetched = [];
      return this.#askAgain(undefined);
    }
    this.#session?.ended(objects, { isSure: false, isSettled: false });
    const { name } = this.#parts.plan;
    const message = `${name}: the replicas that were asked show something else than what this session has seen last: ask again`;
    this.fail(new CorrectableError('SESSION_BEHIND', message));
  }

  /** @returns whether it had not ended before */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#parts.ended();
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
