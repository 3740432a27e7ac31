/** Tiers of one operation in a session. They skip what is too old for it. */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { Operation } from '../../../correctable/operation.ts';
import { isValueWithDetails, skipLevel } from '../../../contract/tier-result.ts';
import { readCurrent } from '../../shared/read-current.ts';
import type { Tier } from '../tier.ts';
import type { GuardedRead, TierSession } from './tier-session.ts';

/** Counts over the life of the sessions. */
export interface SessionStats {
  /**
   * Views of weaker levels that were not shown, since they are older than what their session has
   * seen, or may be.
   */
  readonly behindSession: number;
  /**
   * Calls of the strongest level that were repeated, since its answer was older than what the
   * session has seen.
   */
  readonly repeatedFinals: number;
}

export type MutableSessionStats = {
  -readonly [K in keyof SessionStats]: number;
};

export interface GuardOptions {
  /** All levels of the binding, weakest first. */
  readonly levels: readonly string[];
  readonly tiers: Readonly<Record<string, Tier>>;
  readonly session: TierSession;
  readonly stats: MutableSessionStats;
  /** Returns whether versions of this kind can be compared. */
  readonly isOrdered: (version: unknown) => boolean;
}

export function guardTiers(
  operation: Operation,
  options: GuardOptions,
): Readonly<Record<string, Tier>> {
  const { levels } = options;
  const strongest = levels[levels.length - 1] as string;
  if (operation.access === 'write') return { [strongest]: guardWrite(strongest, options) };
  const read = options.session.beginRead(operation);
  return Object.fromEntries(
    levels.map((level) => [
      level,
      level === strongest ? guardFinal(level, read, options) : guardEarly(level, read, options),
    ]),
  );
}

function guardWrite(level: string, options: GuardOptions): Tier {
  const { tiers, session, isOrdered } = options;
  return async (operation, context) => {
    const record = session.beginWrite(operation);
    let result: unknown;
    try {
      result = await tiers[level]!(operation, context);
    } catch (error) {
      // The row may be gone all the same, and a new one may count its versions from 1.
      if (operation.name === 'remove') record(undefined);
      throw error;
    }
    const version = getVersion(result);
    // The write was made, so a version that cannot be used is no failure.
    record(isOrdered(version) ? version : undefined);
    return result;
  };
}

function guardEarly(level: string, read: GuardedRead, options: GuardOptions): Tier {
  const { tiers, stats } = options;
  return async (operation, context) => {
    const result = await tiers[level]!(operation, context);
    if (result === skipLevel || read.isDecided) return skipLevel;
    const version = checkOrder(getVersion(result), operation, options);
    if (read.canShow(version)) {
      read.recordEarly(version);
      return result;
    }
    stats.behindSession += 1;
    return skipLevel;
  };
}

function guardFinal(level: string, read: GuardedRead, options: GuardOptions): Tier {
  const { tiers, stats } = options;
  return async (operation, context) => {
    const getOrderedVersion = (result: unknown): unknown =>
      checkOrder(getVersion(result), operation, options);
    return await readCurrent({
      read: async () => await tiers[level]!(operation, context),
      isBehind: (answer) => read.isBehind(getOrderedVersion(answer)),
      isDoubtful: () => false,
      isCallerGone: () => context.signal.aborted,
      onAccepted: (answer) => {
        if (answer !== skipLevel) read.recordFinal(getOrderedVersion(answer));
      },
      stats,
      describe: () =>
        `${operation.name}: the level "${level}" is behind what this session has seen. Nothing was changed. Check that its tier reads the newest data, and that a row which is created again does not count its versions from 1. Then retry.`,
    });
  };
}

function getVersion(result: unknown): unknown {
  if (!isValueWithDetails(result)) return undefined;
  return result.details.version ?? undefined;
}

/** @throws CorrectableError `INVALID_VALUE` if it cannot be compared */
function checkOrder(version: unknown, { name }: Operation, { isOrdered }: GuardOptions): unknown {
  if (version === undefined || isOrdered(version)) return version;
  const message = `${name}: the version is of type ${typeof version}, which has no order. Return a number, a bigint or a Date, or pass "reached" to versionSessions.`;
  throw new CorrectableError('INVALID_VALUE', message, { field: 'version' });
}
