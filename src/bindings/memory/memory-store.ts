/** The primary copy, and the order in which its updates reach the backups. */
import { structurallyEqual } from '../../correctable/structural-equality.ts';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { CommitArgs } from '../../operations/index.ts';
import { toCanonicalString } from '../../values/canonical-string.ts';
import { RecentMap } from '../shared/recent-map.ts';
import type { ReplicaReply } from './replica.ts';
import { getWrittenKeys, Replica } from './replica.ts';

/**
 * A primary that several memory bindings can share. Each binding is then a site with a backup copy
 * of its own.
 */
export interface MemoryStore {
  /** How many writes the primary has executed. */
  readonly applied: number;
}

/** An operation in flight. Compared by identity. */
export interface PendingWrite {
  readonly operation: Operation;
  readonly idempotencyKey?: string | undefined;
  /** The objects that it writes, from `getWrittenObjects`. */
  readonly writes: readonly string[];
}

type WriteListener = (update: PendingWrite) => void;

/** How many of the latest updates with idempotency keys are remembered. */
const KEYS_MAX = 100_000;

export class Primary implements MemoryStore {
  readonly #replica = new Replica();
  readonly #listeners = new Set<WriteListener>();
  readonly #outcomes = new RecentMap<{
    readonly operation: Operation;
    readonly reply: ReplicaReply;
  }>(KEYS_MAX);

  get applied(): number {
    return this.#replica.applied;
  }

  hasOutcomeOf({ idempotencyKey }: PendingWrite): boolean {
    return idempotencyKey !== undefined && this.#outcomes.has(idempotencyKey);
  }

  /**
   * @throws CorrectableError `INVALID_ARGUMENT` if its idempotency key was used for another update
   */
  execute(update: PendingWrite): ReplicaReply {
    const { operation, idempotencyKey } = update;
    if (operation.access === 'read') return this.#replica.read(operation);
    const outcome = idempotencyKey === undefined ? undefined : this.#outcomes.get(idempotencyKey);
    if (outcome !== undefined) {
      if (isSameWrite(outcome.operation, operation)) return outcome.reply;
      const message =
        'idempotencyKey: the key was used before, for another operation or other arguments. The write was not applied. Use a new key for each operation.';
      throw new CorrectableError('INVALID_ARGUMENT', message, {
        field: 'idempotencyKey',
      });
    }
    const reply = this.#replica.apply(operation);
    if (idempotencyKey !== undefined) this.#outcomes.set(idempotencyKey, { operation, reply });
    for (const follow of this.#listeners) follow(update);
    return reply;
  }

  /**
   * Copies the state to `backup`, and passes later writes to `follower`. Returns a function that
   * ends the replication.
   */
  replicateTo(backup: Replica, follower: WriteListener): () => void {
    backup.copyFrom(this.#replica);
    this.#listeners.add(follower);
    return () => this.#listeners.delete(follower);
  }
}

/**
 * The updates of this site that its backup copy has not applied yet, by object, in the order of
 * their submission.
 */
export class InFlightWrites {
  readonly #byObject = new Map<string, PendingWrite[]>();

  add(update: PendingWrite): void {
    for (const object of update.writes) {
      const updates = this.#byObject.get(object);
      if (updates === undefined) this.#byObject.set(object, [update]);
      else updates.push(update);
    }
  }

  remove(update: PendingWrite): void {
    for (const object of update.writes) {
      const updates = this.#byObject.get(object);
      const at = updates?.indexOf(update) ?? -1;
      if (updates === undefined || at < 0) continue;
      // Remove the update also from the array, because a map may still refer to deleted entries
      // internally.
      updates.splice(at, 1);
      if (updates.length === 0) this.#byObject.delete(object);
    }
  }

  /** The operations that were submitted before `update` and write what it reads or writes. */
  getEarlier(update: PendingWrite): Operation[] {
    return getTouchedObjects(update).flatMap((object) => {
      const updates = this.#byObject.get(object) ?? [];
      const at = updates.indexOf(update);
      return updates.slice(0, at < 0 ? undefined : at).map(({ operation }) => operation);
    });
  }
}

/**
 * Returns whether a store cannot distinguish two writes: `-0` equals `0`, and a missing field
 * equals one that is `undefined`.
 */
function isSameWrite(a: Operation, b: Operation): boolean {
  const [left, right] = [a, b].map(({ name, args }) =>
    toCanonicalString({ name, args }, { isLoose: true, maxParts: Infinity }),
  );
  // A value without a canonical string, such as an instance of a class, is equal if it is the same
  // object.
  return (left !== undefined && left === right) || structurallyEqual(a, b);
}

/** Returns the names of the objects that an operation writes. A read writes none. */
export function getWrittenObjects(operation: Operation): readonly string[] {
  const { queue } = operation.args as { readonly queue?: string };
  if (queue !== undefined) return [`queue ${queue}`];
  const keys = getWrittenKeys(operation);
  return keys.length === 1 ? [toObjectName(keys[0]!)] : [...new Set(keys)].map(toObjectName);
}

function getTouchedObjects({ operation, writes }: PendingWrite): readonly string[] {
  if (operation.name !== 'commit') return writes;
  return (operation.args as CommitArgs).reads.map(({ key }) => toObjectName(key));
}

function toObjectName(key: string): string {
  return `key ${key}`;
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
