/**
 * The surroundings of the operations of one client: the time, and the listeners for events that no
 * caller waits for.
 */
import type { Clock } from './clock.ts';
import { systemClock } from './clock.ts';
import type { DeadlineList } from './deadline-list.ts';
import { CorrectableError } from './errors.ts';
import type { AnyView } from './view.ts';

/** Why a view was not delivered, or a call of the sink had no effect. */
export type DropReason =
  /** A preliminary view weaker than one delivered before. */
  | 'weaker'
  /** A preliminary view with an older version than one delivered before. */
  | 'older'
  /** A second view at one level from a source that is not `isRefining`. */
  | 'repeated'
  /** A preliminary view at a level that was not requested. */
  | 'not-requested'
  /** A level that the binding does not have. */
  | 'unknown-level'
  /** A call of the sink after the operation had closed. */
  | 'closed';

/** An event that no caller waits for, but an operator may want to know. */
export type CorrectableEvent =
  | {
      readonly type: 'drop';
      readonly reason: DropReason;
      readonly level: string | undefined;
    }
  /** The operation failed after `settle` or `when` had already taken one of its early views. */
  | { readonly type: 'late-failure'; readonly error: unknown }
  /** The final view has another value than the view that `settle` or `when` took early. */
  | {
      readonly type: 'late-correction';
      readonly operation: {
        readonly name: string;
        readonly key?: string | undefined;
      };
      readonly earlyView: AnyView;
      readonly final: AnyView;
    };

/** The clock and the listeners of a client, or of one Correctable. */
export interface EnvironmentOptions {
  /** Source of time. Default: the clock of the process */
  readonly clock?: Clock | undefined;
  /** Receives what a callback throws. Default: `reportError`, or a process warning in Node */
  readonly onUncaught?: ((error: unknown) => void) | undefined;
  /** Receives dropped views, late failures and late corrections. */
  readonly onEvent?: ((event: CorrectableEvent) => void) | undefined;
}

/** How many views and calls were dropped, by reason. */
export type DropCounts = { readonly [R in DropReason]: number };

/** Statistics of the operations of a client. */
export interface ClientStats {
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
  /** Runs of `speculate` and `chain` that were undone because a later view had another value. */
  readonly speculationsLost: number;
  /** Attempts after the first, by `retry`. */
  readonly retried: number;
  /** Reads that were not submitted because an equal one was in flight, by `dedupeReads`. */
  readonly deduped: number;
}

export interface Environment {
  readonly clock: Clock;
  /** The drop counts of the client, if there is one, and its statistics. */
  drops?: { -readonly [R in DropReason]: number };
  stats?: { -readonly [C in keyof ClientStats]: number };
  /** The deadlines by timeout, in milliseconds. */
  readonly deadlines: Map<number, DeadlineList>;
  /** The binding of the client, which may name its principal. */
  binding?: { principal?(): string };
  /** Whether the client was closed. */
  isClosed?: boolean;
  /**
   * Operations between two attempts. The binding does not know them, so it would not close them.
   */
  pendingSources?: Set<{ fail(error: unknown): void }>;
  /**
   * Returns the time of the current tick. Views that arrive together get one time, which is read
   * once.
   */
  getTickTime(): number;
  /**
   * Converts a moment of the clock to milliseconds since the epoch. Default: the moment of the
   * current tick
   */
  getWallTime(moment?: number): number;
  count(name: keyof ClientStats): void;
  recordDrop(reason: DropReason, level?: string): void;
  report(event: CorrectableEvent): void;
  readonly reportUncaught: (error: unknown) => void;
}

export function createEnvironment({
  clock = systemClock,
  onEvent,
  onUncaught = reportUncaught,
}: EnvironmentOptions = {}): Environment {
  /** Set by the first access within the current tick. */
  let tickAt: number | undefined;
  let wallAheadMs = 0;
  const readClock = (): number => {
    queueMicrotask(() => (tickAt = undefined));
    const now = clock.now();
    wallAheadMs = (clock.wallNow?.() ?? now) - now;
    return (tickAt = now);
  };
  const environment: Environment = {
    clock,
    deadlines: new Map(),
    getTickTime: () => tickAt ?? readClock(),
    getWallTime(moment) {
      const now = environment.getTickTime();
      return (moment ?? now) + wallAheadMs;
    },
    count(name) {
      if (environment.stats) environment.stats[name]++;
    },
    recordDrop(reason, level) {
      if (environment.drops) environment.drops[reason]++;
      environment.report({ type: 'drop', reason, level });
    },
    report: (event) => onEvent && call(onEvent, event, environment.reportUncaught),
    reportUncaught: (error) => call(onUncaught, error, reportUncaught),
  };
  return environment;
}

function call<A>(
  listener: (argument: A) => void,
  argument: A,
  onError: (error: unknown) => void,
): void {
  try {
    listener(argument);
  } catch (error) {
    onError(error);
  }
}

/**
 * @throws CorrectableError `UNSUPPORTED` if the platform lacks a function that every operation
 * needs
 */
export function requirePlatform(): void {
  for (const name of ['AbortController', 'queueMicrotask'] as const) {
    if (!globalThis[name])
      throw new CorrectableError('UNSUPPORTED', `${name} is missing. Load a polyfill.`);
  }
}

interface GlobalHost {
  reportError?(error: unknown): void;
  process?: { emitWarning?(warning: Error | string): void };
}

/** Reports an uncaught error. In Node, where that would end the process, it emits a warning. */
function reportUncaught(error: unknown): void {
  const { reportError, process }: GlobalHost = globalThis;
  if (reportError) reportError(error);
  else if (process?.emitWarning)
    process.emitWarning(error instanceof Error ? error : String(error));
  else {
    // oxlint-disable-next-line no-restricted-globals -- no user passes this delay
    setTimeout(() => {
      throw error;
    });
  }
}

/**
 * Shared by all Correctables that were made without options, so that none of them needs an
 * environment of its own.
 */
export const defaultEnvironment: Environment = /* @__PURE__ */ createEnvironment();
