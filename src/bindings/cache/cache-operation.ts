import type { ViewDetails } from '../../correctable/binding.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { ViewOwner } from './cache-key.ts';
import type { CacheSession } from './cache-session.ts';
import type { KnownTransaction } from './persistence/transaction-log.ts';
import type { InvalidationKind } from './view-precedence.ts';

export interface CacheOperation {
  readonly operation: Operation;
  /**
   * An update as it was asked for, with arguments of its own; where these
   * cannot be copied, why not.
   */
  readonly operationCopy?: Operation | undefined;
  readonly copyError?: unknown;
  /** Who submits it: the caller or, without one, the principal of the cache. */
  readonly principal: string;
  /** Whose its view is; `undefined` if nothing tells, so that none is kept. */
  readonly owner: ViewOwner | undefined;
  /**
   * Counts the principals: what was in flight for a former one is not filed.
   */
  readonly principalEpoch: number;
  /**
   * What its view is filed under; `undefined` for an operation whose views are
   * not cached.
   */
  readonly id: string | undefined;
  readonly touches: readonly string[] | undefined;
  /** When it began, in the cache's own counting. */
  readonly startedAt: number;
  /** What was known of the store's transactions then. */
  readonly knownTransaction: KnownTransaction;
  readonly session: CacheSession | undefined;
  /**
   * Whether the store behind may answer with the outcome of an earlier
   * submission. Then an update may have been executed long before it began
   * here, with others since.
   */
  readonly mayBeReplay: boolean;
  /**
   * Until when all that was learnt of its view is surely no newer than what is
   * still to come of it.
   */
  orderedUntil: number;
  /**
   * Present if the caller of an update got its final view at a weaker level.
   */
  earlyFinal?: EarlyFinal;
}

/** What is known of an update that was promised. */
interface EarlyFinal {
  readonly at: number;
  readonly tags: readonly string[];
  /**
   * Whether something else had changed that by then, since the update began.
   */
  readonly invalidation: InvalidationKind;
}

export interface InnerView {
  readonly value: unknown;
  readonly level: string;
  readonly details: ViewDetails;
}
