/** What runs of reads and of writes share. */
import type { InvocationContext, Sink } from '../../correctable/binding.ts';
import type { Clock } from '../../correctable/clock.ts';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { isCodeError } from '../shared/code-error.ts';
import { LevelCall } from '../shared/level-call.ts';
import type { ServerSelection } from '../shared/server-selection.ts';
import type { SessionPositions } from '../shared/session-positions.ts';
import type { PrimaryHistory } from './primary-history.ts';
import type { MutableReplicaStats } from './replica-stats.ts';
import type {
  ReplicaCall,
  ReplicaDetails,
  ReplicaLevels,
  ReplicaRead,
  ReplicaStore,
} from './replica-store.ts';
import { getErrorMessage } from '../../values/error-message.ts';

export type Level = ReplicaLevels[number];

/** What the runs of one binding share. */
export interface BindingParts {
  readonly store: ReplicaStore;
  readonly clock: Clock;
  readonly selection: ServerSelection;
  readonly history: PrimaryHistory<unknown>;
  readonly stats: MutableReplicaStats;
  /** Asks for the position of the primary, unless it was known a moment ago. */
  readonly probePrimary: () => void;
  /** Notes that a replica does not know its position. */
  readonly onUnknownPosition: (server: string) => void;
  /** Notes that the store has lost something that a session has seen. */
  readonly onLoss: () => void;
}

export interface RunOptions extends BindingParts {
  readonly operation: Operation;
  readonly levels: readonly Level[];
  readonly sink: Sink<unknown, Level>;
  readonly context: InvocationContext;
  readonly session: SessionPositions<unknown> | undefined;
  readonly onEnded: () => void;
}

/** The context of one call of a store. */
export class StoreCall extends LevelCall implements ReplicaCall {
  readonly idempotencyKey: string | undefined;
  readonly needsSeenUpTo: boolean;
  readonly after: unknown;
  readonly markSent: () => void;
  readonly markUnsent: () => void;

  constructor(
    level: Level,
    operation: Operation,
    context: InvocationContext,
    {
      after,
      markSent = () => {},
      markUnsent = () => {},
    }: Partial<Pick<ReplicaCall, 'after' | 'markSent' | 'markUnsent'>> = {},
  ) {
    super(level, operation, context);
    this.idempotencyKey = context.idempotencyKey;
    this.needsSeenUpTo = context.session !== undefined;
    this.after = after;
    this.markSent = markSent;
    this.markUnsent = markUnsent;
  }
}

/**
 * Returns the facts for a view. In a session that the store has lost something of, each view is
 * marked: it may be older than what the session has seen.
 */
export function toDetails(
  { version, meta, position }: ReplicaDetails & Pick<ReplicaRead<unknown>, 'position'>,
  lagMs: number | undefined,
  session: SessionPositions<unknown> | undefined,
): { readonly version: unknown; readonly meta: Record<string, unknown> } {
  return {
    version: version ?? position,
    meta: {
      ...meta,
      ...(lagMs !== undefined && { lagMs }),
      ...(session?.hasLoss === true && { regressed: true }),
    },
  };
}

/**
 * Returns the error of a read. If it is not known to be something else, the server gave no answer.
 */
export function toReadError(error: unknown, { name }: Operation, store: string): unknown {
  if (isCorrectableError(error)) return error;
  if (isCodeError(error)) {
    const message = `${name}: the answer of ${store} cannot be read: ${describe(error)}. Nothing was changed. Correct the value, or the adapter of the store.`;
    return new CorrectableError('INVALID_VALUE', message, { cause: error });
  }
  const message = `${name}: ${store} does not answer: ${describe(error)}. Nothing was changed.`;
  return new CorrectableError('UNAVAILABLE', message, { cause: error });
}

export function describe(error: unknown): string {
  return getErrorMessage(error);
}
