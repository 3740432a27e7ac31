/** What surrounds the operations of one client: the time, and where facts go that no caller waits for. */
import type { Binding } from './binding.ts';
import type { Clock } from './clock.ts';
import { systemClock } from './clock.ts';
import type { DeadlineList } from './deadlines.ts';
import type { AnyView } from './view.ts';

/** Why a view was not delivered, or a call of the sink had no effect. */
export type DropReason =
  /** A preliminary view weaker than one delivered before. */
  | 'weaker'
  /** A preliminary view with an older version than one delivered before. */
  | 'older'
  /** A second view at one level from a source that is not `refining`. */
  | 'repeated'
  /** A preliminary view at a level that was not requested. */
  | 'not-requested'
  /** A level that the binding does not have. */
  | 'unknown-level'
  /** A call of the sink after the operation had closed. */
  | 'closed';

/** Something that no caller waits for, but an operator may want to know. */
export type CorrectableEvent =
  | { readonly type: 'drop'; readonly reason: DropReason; readonly level: string | undefined }
  /** The operation failed after `settle` or `when` had answered early from it. */
  | { readonly type: 'late-failure'; readonly error: unknown }
  /** The final view has another value than the view that `settle` or `when` took early. */
  | {
      readonly type: 'late-correction';
      readonly operation: { readonly name: string; readonly key?: string | undefined };
      readonly taken: AnyView;
      readonly final: AnyView;
    };

/** Ports and reports of a client, or of one Correctable. */
export interface EnvironmentOptions {
  /** The process's clock unless given. */
  readonly clock?: Clock;
  /** Gets what a callback throws. Unless given: `reportError`, in Node a process warning. */
  readonly onUncaught?: (error: unknown) => void;
  /** Gets dropped views, late failures and late corrections. */
  readonly onEvent?: (event: CorrectableEvent) => void;
}

/** How many views and calls were dropped, by reason. */
export type DropCounts = { readonly [R in DropReason]: number };

/** What has become of the operations of a client. */
export interface Counters {
  /** Finals with the value of the preliminary view before them. */
  readonly confirmed: number;
  /** Finals with another value than the preliminary view before them. */
  readonly corrected: number;
  /** Views that `settle` or `when` took early and whose value the final has. */
  readonly earlyConfirmed: number;
  /** Views that `settle` or `when` took early and whose value the final does not have. */
  readonly earlyCorrected: number;
  /** Runs of `speculate` and `chain` on a preliminary view whose value the final has. */
  readonly speculationsWon: number;
  /** Runs of `speculate` and `chain` that were undone since a later view has another value. */
  readonly speculationsLost: number;
  /** Attempts after the first, by `retry`. */
  readonly retried: number;
  /** Reads that were not submitted since an equal one was under way, by `shareReads`. */
  readonly shared: number;
}

export class Environment {
  readonly clock: Clock;
  readonly drops: { -readonly [R in DropReason]: number };
  /** Those of the client, where there is one. */
  declare counters: { -readonly [C in keyof Counters]: number } | undefined;
  /** By time limit, in milliseconds. */
  readonly deadlines: Map<number, DeadlineList> = new Map();
  /** That of the client, which may say who it asks as. */
  declare binding: Pick<Binding, 'principal'> | undefined;
  /** Whether the client was closed. */
  declare isClosed: boolean | undefined;
  /** Operations between two attempts: with the binding nobody else would close them. */
  declare waiting: Set<{ fail(error: unknown): void }> | undefined;
  readonly #options: EnvironmentOptions;
  /** Known from the first time that the running stretch of code asked. */
  #tickAt: number | undefined;
  #wallAheadMs = 0;

  constructor(options: EnvironmentOptions = {}) {
    this.clock = options.clock ?? systemClock;
    this.drops = { weaker: 0, older: 0, repeated: 0, 'not-requested': 0, 'unknown-level': 0, closed: 0 };
    this.#options = options;
  }

  /** The time of the running synchronous stretch of code: views that arrive together carry one time, read once. */
  tickAt(): number {
    return this.#tickAt ?? this.#readClock();
  }

  /** A moment of the clock, that of the running stretch unless given, in milliseconds since the epoch. */
  wallAt(moment?: number): number {
    const now = this.tickAt();
    return (moment ?? now) + this.#wallAheadMs;
  }

  drop(reason: DropReason, level?: string): void {
    this.drops[reason]++;
    this.report({ type: 'drop', reason, level });
  }

  report(event: CorrectableEvent): void {
    try {
      this.#options.onEvent?.(event);
    } catch (error) {
      this.uncaught(error);
    }
  }

  uncaught(error: unknown): void {
    try {
      (this.#options.onUncaught ?? reportUncaught)(error);
    } catch (second) {
      reportUncaught(second);
    }
  }

  #readClock(): number {
    queueMicrotask(() => (this.#tickAt = undefined));
    const now = this.clock.now();
    this.#wallAheadMs = (this.clock.wallNow?.() ?? now) - now;
    return (this.#tickAt = now);
  }
}

interface Host {
  reportError?(error: unknown): void;
  process?: { emitWarning?(warning: Error | string): void };
}

/** As an error that nobody caught; Node, where that ends the process, gets a warning. */
function reportUncaught(error: unknown): void {
  const { reportError, process }: Host = globalThis;
  if (reportError) reportError(error);
  else if (process?.emitWarning) process.emitWarning(error instanceof Error ? error : String(error));
  else {
    setTimeout(() => {
      throw error;
    }, 0);
  }
}

/** For Correctables made without options: shared, so that they cost nothing each. */
export const defaultEnvironment: Environment = /* @__PURE__ */ new Environment();
