import type { ViewDetails } from '../../correctable/binding.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { ViewOwner } from './cache-key.ts';
import type { CacheSession } from './cache-session.ts';
import type { KnownTransaction } from './persistence/transaction-log.ts';
import type { InvalidationKind } from './view-precedence.ts';

export interface CacheOperation {
  readonly operation: Operation;
  /**
   * A copy of an update with the arguments of the call. If these cannot be copied, `copyError` is
   * the reason.
   */
  readonly operationCopy?: Operation | undefined;
  readonly copyError?: unknown;
  /** The caller of the operation or, without one, the principal of the cache. */
  readonly principal: string;
  /** The owner of its view. `undefined` if the owner is unknown, so that no view is cached. */
  readonly owner: ViewOwner | undefined;
  /**
   * The number of principals so far when the operation began. If it has changed when a result
   * arrives, the result is not cached.
   */
  readonly principalEpoch: number;
  /** The id of its view. `undefined` for an operation whose views are not cached. */
  readonly id: string | undefined;
  readonly touches: readonly string[] | undefined;
  /** When the operation began, by the cache's own clock. */
  readonly startedAt: number;
  /** The store's transactions that were known when the operation began. */
  readonly knownTransaction: KnownTransaction;
  readonly session: CacheSession | undefined;
  /**
   * Whether the inner binding may return the outcome of an earlier submission. Then the update may
   * have been executed long before it began here, with others since.
   */
  readonly mayBeReplay: boolean;
  /**
   * Views with the same id that were learned until this time are certainly no newer than the views
   * that this operation has yet to deliver.
   */
  orderedUntil: number;
  /** Present if the caller of an update got its final view at a weaker level. */
  earlyFinal?: EarlyFinal;
}

/** The state of an update whose caller got an early final. */
interface EarlyFinal {
  readonly at: number;
  readonly tags: readonly string[];
  /** Whether another change had invalidated the same objects by then, since the update began. */
  readonly invalidation: InvalidationKind;
}

export interface InnerView {
  readonly value: unknown;
  readonly level: string;
  readonly details: ViewDetails;
}
