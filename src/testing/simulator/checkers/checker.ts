/** The events of a run that checkers get, and how they report a violation. */
import type { DomainErrorInfo } from '../../../correctable/errors.ts';
import type { Conflict } from '../../../server/service/records/certification-result.ts';
import type { BlueOperation, RedOperation } from '../../../server/service/records/records.ts';
import type { Envelope } from '../../../server/site/wire/envelope.ts';
import type { Origin, Origins } from '../../../server/service/records/origin.ts';
import type { ComparedRows } from '../../../server/site/core/site-core.ts';
import type { Submission } from '../../../server/site/core/submissions.ts';
import type { Stage } from '../../../server/site/answer.ts';
import type { Vector } from '../../../server/service/records/vector.ts';
import type { SiteState } from '../../../server/site/core/site-state.ts';
import type { ClientOperation, History } from '../history.ts';
import type { Link, MessageEnd } from '../network.ts';
import type { Outcome, RunInput } from '../oracle/execute.ts';

export type AnyOperation = BlueOperation | RedOperation;

export function isRed(operation: AnyOperation): operation is RedOperation {
  return 'attempt' in operation;
}

/** Returns whether the operation was executed on the state that its site had only proposed. */
export function isPipelined(operation: AnyOperation): boolean {
  return isRed(operation) && operation.dependencies !== undefined;
}

/**
 * Returns the name of one execution of a red operation. A clock is not enough: after a crash, a
 * stamp may be used again.
 */
export function getExecutionName({
  id,
  site,
  epoch,
  clock,
  attempt,
  snapshot,
}: RedOperation): string {
  return `red ${id} (site ${site}, start ${epoch}, clock ${clock}, attempt ${attempt}, on ${snapshot.join()})`;
}

export interface FinalState {
  readonly sites: readonly {
    readonly site: Origin;
    readonly state: SiteState;
    readonly origins: Origins;
  }[];
  /** Sites that were lost for good, or closed. */
  readonly lost: ReadonlySet<Origin>;
  readonly history: History;
}

/**
 * Returns whether an operation may be lost: it is blue, and its site was lost before others had it.
 */
export function canBeLost(
  history: History,
  operation: ClientOperation,
  lost: ReadonlySet<Origin>,
): boolean {
  return history.traits.isBlue(operation) && operation.replies.every(({ site }) => lost.has(site));
}

/** Sets a count by ordinal, including those of origins that join. The array has no holes. */
export function setCount(counts: number[], entry: number, count: number): void {
  while (counts.length <= entry) counts.push(0);
  counts[entry] = count;
}

/** A submission: the `serial`-th at `site`. */
export interface ClientSubmission {
  readonly site: Origin;
  readonly serial: number;
  readonly client: number;
  readonly id: string;
  /**
   * The state that the session had seen. It is the same object in all submissions with the same
   * state.
   */
  readonly sessionVector: Vector | undefined;
  readonly wants: Submission['wantedStages'];
}

/** An event of a submission at a site: a view, a failed level, or its failure. */
export interface SubmissionEvent {
  readonly site: Origin;
  readonly serial: number;
  readonly operation: ClientOperation;
  readonly isRead: boolean;
  /** Whether no other event may follow. */
  readonly isEnd: boolean;
  /** Absent if the whole submission failed. */
  readonly stage: Stage | undefined;
  /** The code of a failure that is no domain error. */
  readonly code: string | undefined;
  /** Whether its client had given it up. */
  readonly isAbandoned: boolean;
}

/** A run of a generator on the stable snapshot of a site. */
export interface GeneratorRun {
  readonly input: RunInput;
  /** What was read, if it was a strong read in a deployment with several partitions. */
  readonly strongReads?: ReadonlySet<string> | undefined;
  /** The id of the operation, if it has one. */
  readonly id: string | undefined;
  readonly outcome: Outcome;
  /**
   * Whether it ran on operations that the site had only proposed. Its place in the red order shows
   * whether that was right.
   */
  readonly isPipelined: boolean;
  /**
   * Whether the site had nothing else in flight that its preliminary view would have to include.
   */
  readonly isAlone: boolean;
}

export interface ClientView {
  readonly site: Origin;
  readonly serial: number;
  readonly operation: ClientOperation;
  readonly isRead: boolean;
  readonly stage: Stage;
  readonly value: unknown;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
}

export interface ClientDomainError {
  readonly site: Origin;
  readonly serial: number;
  readonly operation: ClientOperation;
  readonly isRead: boolean;
  /** The level that was refused, if a stronger one follows. */
  readonly stage: Stage | undefined;
  readonly domain: DomainErrorInfo;
}

/**
 * What happens to a site. `deposed`: another process has taken over its log. `halted`: its red log
 * did not continue correctly. `lost`: the site and its disk are lost for good.
 */
export type SiteEvent =
  | 'crashed'
  | 'lost'
  | 'paused'
  | 'resumed'
  | 'deposed'
  | 'halted'
  | 'disk full'
  | 'disk has room';

/** One property of a run. A checker throws a `PropertyViolation` when it does not hold. */
export interface Checker {
  readonly name: string;
  /**
   * Whether the property holds although a red log has lost confirmed records. Most compare what a
   * site shows with what another one had shown.
   */
  readonly holdsAfterLoss?: boolean;
  /** Called when a site starts: empty, or with the state for which `save` returned `saved`. */
  onStarted?(site: Origin, saved?: unknown): void;
  /** Returns the notes about a site, separate from later notes. */
  save?(site: Origin): unknown;
  /** Called when a generator run at `site` became an operation. */
  onCreated?(site: Origin, operation: AnyOperation): void;
  onApplied?(site: Origin, operation: AnyOperation, state: SiteState): void;
  /** Called when an execution was rejected, as `site` has seen in the red order. */
  onRejected?(site: Origin, operation: RedOperation, conflict: Conflict | undefined): void;
  /** Called when the start number `start` of `site` has accepted a message of another site. */
  onMessageAccepted?(site: Origin, envelope: Envelope, start: number): void;
  onMembers?(site: Origin, origins: Origins): void;
  /** Called when a site has compared rows with those of another one. */
  onRowsCompared?(site: Origin, compared: ComparedRows): void;
  /** Called when something happened to a site, its disk or its log. */
  onSiteEvent?(site: Origin, event: SiteEvent): void;
  /** Called when a copy of a message has arrived at a site, or was lost. */
  onMessageEnd?(end: MessageEnd): void;
  /** Called when a partition begins, and when it ends. */
  onLinksCut?(links: readonly Link[]): void;
  onLinksRestored?(links: readonly Link[]): void;
  onSubmitted?(submission: ClientSubmission): void;
  /** Called when a generator ran on the state that `site` shows. */
  onGeneratorRun?(site: Origin, run: GeneratorRun): void;
  /** Called when a client got a reply, before the reply is used. */
  onSubmissionEvent?(reported: SubmissionEvent): void;
  onView?(view: ClientView): void;
  onDomainError?(rejection: ClientDomainError): void;
  /** Called when a submission gets a view that is not preliminary. */
  onSessionView?(site: Origin, serial: number): void;
  onFinished?(final: FinalState): void;
}

/**
 * A checker with notes about each site. `copyOf` restores them from saved notes, or creates empty
 * ones.
 */
export abstract class SiteChecker<Noted> implements Checker {
  abstract readonly name: string;
  readonly #sites: Noted[] = [];
  readonly #copy: (saved?: Noted) => Noted;

  constructor(copyOf: (saved?: Noted) => Noted) {
    this.#copy = copyOf;
  }

  onStarted(site: Origin, saved?: Noted): void {
    this.#sites[site] = this.#copy(saved);
  }

  save(site: Origin): Noted {
    return this.#copy(this.getState(site));
  }

  protected getState(site: Origin): Noted {
    return (this.#sites[site] ??= this.#copy());
  }
}

/** Returns the origin that an operation counts for: its red log, or its site. */
export function getListOf(operation: AnyOperation, { logs }: Origins): Origin {
  return isRed(operation) ? (logs[operation.partition ?? 0] as Origin) : operation.site;
}

/** Names the origin of operations for messages. */
export function formatList(entry: number, origins: Origins): string {
  if (!origins.isLog(entry)) return `site ${entry}`;
  const partition = origins.logs.indexOf(entry as Origin);
  return partition === 0 ? 'red' : `red of partition ${partition}`;
}

/**
 * Counts the operations that each site shows, by ordinal: those of each red log, and blue ones of
 * each site.
 */
export abstract class CountingChecker extends SiteChecker<number[]> {
  /** The origins at the beginning, with all red logs. */
  protected readonly founding: Origins;

  constructor(origins: Origins) {
    const { size } = origins;
    super((saved) => [...(saved ?? Array.from({ length: size }, () => 0))]);
    this.founding = origins;
  }

  onApplied(
    site: Origin,
    operation: AnyOperation,
    // Some checkers that extend it look at the state too.
    _state: SiteState,
  ): void {
    const entry = getListOf(operation, this.founding);
    const shown = this.getState(site);
    setCount(shown, entry, (shown[entry] ?? 0) + 1);
  }
}

export class PropertyViolation extends Error {
  override readonly name = 'Fault';
  /** The part that noticed the violation, if it was no checker. */
  readonly noticedBy: string | undefined;

  constructor(message: string, noticedBy?: string) {
    super(message);
    this.noticedBy = noticedBy;
  }
}

export function assertProperty(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new PropertyViolation(message());
}

/** The methods of a checker that report events of a run. */
type Notice = Exclude<keyof Checker, 'name' | 'holdsAfterLoss' | 'save' | 'onStarted'>;

export class Checkers {
  /** The checker that is running, for the message of a violation. */
  current = '';
  readonly #all: readonly Checker[];
  readonly #listeners = new Map<keyof Checker, readonly Checker[]>();

  constructor(all: readonly Checker[]) {
    this.#all = all;
  }

  /** Calls the checkers that have this method. Most events concern few of them. */
  notify<N extends Notice>(notice: N, ...args: Parameters<NonNullable<Checker[N]>>): void {
    for (const checker of this.#getListeners(notice)) {
      this.current = checker.name;
      (checker[notice] as (...args: unknown[]) => void).apply(checker, args);
    }
  }

  /** Notifies the checkers of the start of a site, with their own notes about it. */
  start(site: Origin, notes: ReadonlyMap<string, unknown> | undefined): void {
    for (const checker of this.#all) checker.onStarted?.(site, notes?.get(checker.name));
  }

  /** Returns the notes of each checker about a site, by the name of the checker. */
  save(site: Origin): ReadonlyMap<string, unknown> {
    return new Map(this.#all.map((checker) => [checker.name, checker.save?.(site)]));
  }

  #getListeners(notice: Notice): readonly Checker[] {
    let listeners = this.#listeners.get(notice);
    if (listeners === undefined) {
      listeners = this.#all.filter((checker) => checker[notice] !== undefined);
      this.#listeners.set(notice, listeners);
    }
    return listeners;
  }
}
