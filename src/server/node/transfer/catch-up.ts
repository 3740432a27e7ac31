/**
 * Receives the state of another site if that site no longer has the log records that this one lacks
 * (docs/spec/cluster.md, CLU-A4, CLU-A6, CLU-T8).
 */
import {
  type KeptRed,
  type RecoveredState,
  collectOwnTail,
  mergeSharedIntoSite,
} from '../../log/recovered-state.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { isCorrectableError } from '../../../correctable/errors.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { BlueOperation } from '../../service/records/records.ts';
import type { SiteInstallation } from './install-site.ts';
import type { ReceivedState } from './state-transfers.ts';

/** The state that the site has found in its directory. */
interface FoundState {
  readonly stored: RecoveredState;
  /** The number of the next log file: no file of the site has had it yet. */
  readonly nextSegment: number;
  /** No commit of the site has had a larger number. */
  readonly lastCommit: number;
}

/** The state that results from the found one and the received one. */
type MergedState = Pick<SiteInstallation, 'state' | 'sharedRows' | 'nextSegment' | 'commit'>;

export interface CatchUpContext {
  readonly origin: Origin;
  /**
   * What the site keeps of its own copy of each red log, if these were restored without it.
   * Default: all
   */
  readonly kept?: readonly KeptRed[] | undefined;
  readonly signal: AbortSignal;
  getPeers(): readonly string[];
  /**
   * Receives the state of one of the donors. Calls `onClosed` if a donor knows this directory as
   * one of a closed site.
   */
  receive(
    donors: readonly string[],
    signal: AbortSignal,
    onClosed: (reason: string) => void,
  ): Promise<ReceivedState>;
  recover(): Promise<FoundState>;
  install(merged: MergedState): Promise<void>;
  onProblem(message: string): void;
  /**
   * Called once if no donor's state could be used for some time. Receives the reason for each
   * donor.
   */
  onRefused(problems: ReadonlyMap<string, string>): void;
  /**
   * Called if the disk is too full for the received state, with the error and the approximate space
   * that is needed. Called without an error once there is space.
   */
  onFullChanged(because: Error | undefined, neededBytes?: number): void;
  /** Default: 2000 */
  readonly retryAfterMs?: number;
  /** Resolves after a time. Default: as `setTimeout` */
  wait?(delayMs: number): Promise<unknown>;
}

/**
 * The result if the site was closed meanwhile. Contains its own operations that other sites may
 * lack.
 */
export interface ClosedMeanwhile {
  readonly message: string;
  readonly unsent: readonly BlueOperation[];
}

const RETRY_AFTER_MS = 2000;
/**
 * Each attempt transfers the whole state. While the disk is full, the next attempt comes later each
 * time.
 */
const MAX_FULL_RETRY_AFTER_MS = 300_000;
/** How many rounds of attempts raise no alarm: a donor may lack something for a moment only. */
const MAX_SILENT_ROUNDS = 3;

/**
 * Resolves once the state is on the disk, or with the remaining operations of a site that was
 * closed.
 */
export async function catchUp(context: CatchUpContext): Promise<ClosedMeanwhile | undefined> {
  const { signal, retryAfterMs = RETRY_AFTER_MS } = context;
  // The wait ends with the signal. The next attempt then fails with its reason.
  const wait =
    context.wait ?? ((delayMs: number) => pause(delayMs, undefined, { signal }).catch(() => {}));
  const closing = new AbortController();
  const ending = AbortSignal.any([signal, closing.signal]);
  const problems = new Map<string, string>();
  let fullCount = 0;
  let isReported = false;
  const setFull = (because: Error | undefined, neededBytes?: number): void => {
    if (fullCount > 0 !== (because !== undefined)) context.onFullChanged(because, neededBytes);
    fullCount = because === undefined ? 0 : fullCount + 1;
  };
  for (let attempt = 1; ; attempt += 1) {
    const peers = context.getPeers();
    const donors = peers.map((_, index) => peers[(index + attempt - 1) % peers.length] as string);
    let received: ReceivedState;
    try {
      received = await context.receive(donors, ending, (reason) => closing.abort(reason));
    } catch (error) {
      if (!closing.signal.aborted || signal.aborted) throw error;
      const { stored } = await context.recover();
      return {
        message: closing.signal.reason as string,
        unsent: collectOwnTail(context.origin, stored),
      };
    }
    try {
      const { stored, nextSegment, lastCommit } = await context.recover();
      const { shared, rows: sharedRows } = received;
      const state = mergeSharedIntoSite(context.origin, stored, shared, context.kept);
      await context.install({ state, sharedRows, nextSegment, commit: lastCommit + 1 });
      setFull(undefined);
      return undefined;
    } catch (error) {
      const { message } = error as Error;
      context.onProblem(message);
      if (isCorrectableError(error, 'UNAVAILABLE')) problems.set(received.donor, message);
      else setFull(error as Error, received.bytes);
    }
    if (!isReported && attempt >= MAX_SILENT_ROUNDS * peers.length && problems.size > 0) {
      isReported = true;
      context.onRefused(problems);
    }
    const delayMs = retryAfterMs * 2 ** Math.max(0, fullCount - 1);
    await wait(Math.min(delayMs, Math.max(retryAfterMs, MAX_FULL_RETRY_AFTER_MS)));
  }
}
