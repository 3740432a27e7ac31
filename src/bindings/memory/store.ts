/** The primary copy, and the order in which its updates reach the backups. */
import type { Operation } from '../../correctable/operation.ts';
import type { Reply } from './replica.ts';
import { Replica } from './replica.ts';

/** A primary that several memory bindings can share: each is then a site with a backup copy of its own. */
export interface MemoryStore {
  /** How many updates the primary has executed. */
  readonly applied: number;
}

/** An operation on its way; compared by identity. */
export interface Update {
  readonly operation: Operation;
}

/** Gets every update in the primary's order. */
type Follower = (update: Update) => void;

export class Primary implements MemoryStore {
  readonly #replica = new Replica();
  readonly #followers = new Set<Follower>();

  get applied(): number {
    return this.#replica.applied;
  }

  execute(update: Update): Reply {
    const { operation } = update;
    if (operation.effect === 'read') return this.#replica.read(operation);
    const reply = this.#replica.apply(operation);
    for (const follow of this.#followers) follow(update);
    return reply;
  }

  /** Makes `backup` a copy of the present state and tells `follower` what follows. Returns what ends that. */
  replicateTo(backup: Replica, follower: Follower): () => void {
    backup.copyFrom(this.#replica);
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }
}

/**
 * A primary to be shared by several `memory` bindings.
 *
 * @example
 * const store = memoryStore();
 * const madrid = createClient(memory({ store }));
 * const dublin = createClient(memory({ store }));
 */
export function memoryStore(): MemoryStore {
  return new Primary();
}
