/** The primary copy, and the order in which its updates reach the backups. */
import { structurallyEqual } from '../../correctable/structural-equality.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { ReplicaReply } from './replica.ts';
import { Replica } from './replica.ts';

/** A primary that several memory bindings can share. Each binding is then a site with a backup copy of its own. */
export interface MemoryStore {
  /** How many writes the primary has executed. */
  readonly applied: number;
}

/** An operation on its way; compared by identity. */
export interface PendingWrite {
  readonly operation: Operation;
  readonly idempotencyKey?: string | undefined;
}

type WriteListener = (update: PendingWrite) => void;

/** Updates with idempotency keys that are remembered, the latest. */
const KEYS_MAX = 100_000;

export class Primary implements MemoryStore {
  readonly #replica = new Replica();
  readonly #listeners = new Set<WriteListener>();
  readonly #outcomes = new Map<string, { readonly operation: Operation; readonly reply: ReplicaReply }>();

  get applied(): number {
    return this.#replica.applied;
  }

  hasOutcomeOf({ idempotencyKey }: PendingWrite): boolean {
    return idempotencyKey !== undefined && this.#outcomes.has(idempotencyKey);
  }

  /** @throws CorrectableError `INVALID_ARGUMENT` if its idempotency key was used for another update */
  execute(update: PendingWrite): ReplicaReply {
    const { operation, idempotencyKey } = update;
    if (operation.access === 'read') return this.#replica.read(operation);
    const outcome = idempotencyKey === undefined ? undefined : this.#outcomes.get(idempotencyKey);
    if (outcome !== undefined) {
      if (structurallyEqual(outcome.operation, operation)) return outcome.reply;
      const message =
        'idempotencyKey: the key was used before, for another operation or other arguments. The write was not applied. Use a new key for each operation.';
      throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'idempotencyKey' });
    }
    const reply = this.#replica.apply(operation);
    if (idempotencyKey !== undefined) this.#remember(idempotencyKey, operation, reply);
    for (const follow of this.#listeners) follow(update);
    return reply;
  }

  #remember(key: string, operation: Operation, reply: ReplicaReply): void {
    this.#outcomes.set(key, { operation, reply });
    if (this.#outcomes.size <= KEYS_MAX) return;
    for (const oldest of this.#outcomes.keys()) {
      this.#outcomes.delete(oldest);
      break;
    }
  }

  /** Copies the state to `backup`, and passes later writes to `follower`. Returns what ends that. */
  replicateTo(backup: Replica, follower: WriteListener): () => void {
    backup.copyFrom(this.#replica);
    this.#listeners.add(follower);
    return () => this.#listeners.delete(follower);
  }
}

/**
 * Creates a primary that several `memory` bindings can share.
 *
 * @example
 * const store = memoryStore();
 * const madrid = createClient(memory({ store }));
 * const dublin = createClient(memory({ store }));
 */
export function memoryStore(): MemoryStore {
  return new Primary();
}
