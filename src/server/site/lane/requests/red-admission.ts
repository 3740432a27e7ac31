/**
 * Whether one more operation may wait for the red log of a partition, in all and for one client,
 * and with which error it is refused otherwise.
 */
import type { CorrectableError } from '../../../../correctable/errors.ts';
import { redAwayError, redFullError } from '../../../service/records/failures.ts';
import { getClient } from '../../core/operation-id.ts';
import type { OperationId } from '../../../service/records/records.ts';
import { DEFAULT_SEND_WINDOWS } from '../../../log/send-windows.ts';
import type { OperationPlan } from '../../../service/operation-plan.ts';
import type { RedRequests, RequestCounts } from './red-requests.ts';
import type { StrongReads } from './strong-reads.ts';
import type { ThrottledRequests } from './throttled-requests.ts';

export class RedAdmission {
  /**
   * Why nothing more comes from the red log. No operation begins then, and pending ones go on
   * waiting.
   */
  halted: CorrectableError | undefined;
  /** Why the red log takes nothing new for now. */
  overload: CorrectableError | undefined;
  #waitsFor: string | undefined;
  #away: CorrectableError | undefined;
  readonly #limits: RedLimits;
  readonly #requests: RequestCounts;
  readonly #reads: StrongReads;
  readonly #throttled: ThrottledRequests;

  /** @param limits the share of this partition */
  constructor(
    limits: RedLimits,
    requests: RequestCounts,
    reads: StrongReads,
    throttled: ThrottledRequests,
  ) {
    this.#limits = limits;
    this.#requests = requests;
    this.#reads = reads;
    this.#throttled = throttled;
  }

  /** What red operations wait for, if none can be ordered for now. No operation begins then. */
  get waitsFor(): string | undefined {
    return this.#waitsFor;
  }

  set waitsFor(waitsFor: string | undefined) {
    if (waitsFor === this.#waitsFor) return;
    this.#waitsFor = waitsFor;
    this.#away = waitsFor === undefined ? undefined : redAwayError(waitsFor);
  }

  /** Whether this error is why no red operation begins, and a retry may be executed later. */
  isTemporary(failure: unknown): boolean {
    return failure !== undefined && (failure === this.halted || failure === this.#away);
  }

  /** Whether no more may wait for the red order. */
  get isFull(): boolean {
    return this.obstacle !== undefined || isRedFull(this.#limits, this.#requests, this.#reads);
  }

  /** Returns the error of an operation that comes while `isFull`. */
  fullError(): CorrectableError {
    return this.obstacle ?? redFullError(this.#limits.maxRedInFlight ?? Infinity);
  }

  /**
   * Returns why no more of this operation may begin here, if so. Has to be called before anything
   * of the operation is decided.
   */
  getRejection(plan: OperationPlan): CorrectableError | undefined {
    if (this.isFull) return this.fullError();
    return this.#throttled.getRejection(plan);
  }

  /**
   * Why the log orders nothing for now, however few wait. A global that waits has a place already,
   * so that the number of places is no reason for it.
   */
  get obstacle(): CorrectableError | undefined {
    return this.halted ?? this.overload ?? this.#away;
  }
}

export interface RedLimits {
  /** Default: no limit */
  readonly maxRedInFlight?: number | undefined;
  /** Default: `DEFAULT_SEND_WINDOWS` */
  readonly windows?: { readonly maxProposed?: number } | undefined;
}

/** Returns the limits of one partition, which has this share. */
export function shareLimits(
  { maxRedInFlight = Infinity, windows }: RedLimits,
  share: number,
): RedLimits {
  return { maxRedInFlight: Math.ceil(maxRedInFlight * share), windows };
}

/**
 * Whether the maximum of operations wait for the red order. Operations that may have been sent, and
 * whose callers have left, do not count, up to the number that is sent at a time. A leader that is
 * away holds those.
 */
export function isRedFull(
  { maxRedInFlight = Infinity, windows }: RedLimits,
  requests: RequestCounts,
  reads: StrongReads,
): boolean {
  const left = Math.min(
    requests.abandonedCount + reads.abandonedCount,
    windows?.maxProposed ?? DEFAULT_SEND_WINDOWS.maxProposed,
  );
  const places = requests.size + reads.waitedCount + reads.abandonedCount;
  return places - left >= maxRedInFlight;
}

/** A table of outcomes that are kept until their clients acknowledge them. */
interface ClientLimits {
  isFullFor(
    client: string,
    options: { readonly acknowledged: number; readonly pendingCount: number },
  ): boolean;
  get(id: OperationId): unknown;
}

interface AcknowledgingSubmission {
  readonly id: OperationId;
  readonly acknowledged: number;
}

/** Whether a client has the maximum of red operations that it has not acknowledged. */
export function isClientFull(
  tables: readonly ClientLimits[],
  requests: RedRequests,
  { id, acknowledged }: AcknowledgingSubmission,
): boolean {
  const client = getClient(id);
  return tables.some((table) => {
    const isFullWith = (coming: number): boolean =>
      table.isFullFor(client, { acknowledged, pendingCount: coming });
    // Two upper bounds come first, because an exact count costs more and is almost never needed.
    // The log decides an operation before it ends here.
    if (!isFullWith(requests.size) || !isFullWith(requests.countByClient(client))) return false;
    const coming = [...requests.ids].filter(
      (item) => getClient(item) === client && table.get(item) === undefined,
    );
    return isFullWith(coming.length);
  });
}
