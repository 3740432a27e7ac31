/**
 * One copy of the data: values by key, and queues. It is deterministic: the same updates in one
 * order lead to the same state.
 */
import type { ViewDetails } from '../../correctable/binding.ts';
import type { Operation } from '../../correctable/operation.ts';
import { copyOrReuse } from '../../values/deep-copy.ts';
import type {
  CommitArgs,
  CommitResult,
  EnqueueArgs,
  GetArgs,
  GetManyArgs,
  PutArgs,
  ReadVersionsArgs,
  VersionedRead,
  VersionedValue,
} from '../../operations/index.ts';

/** The number of consumed items at the front of an array after which the array is compacted. */
const MAX_CONSUMED_ITEMS = 1024;

export class ItemQueue {
  #items: unknown[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  at(index: number): unknown {
    return this.#items[this.#head + index];
  }

  push(item: unknown): void {
    this.#items.push(item);
  }

  copy(): ItemQueue {
    const queue = new ItemQueue();
    queue.#items = this.#items.slice(this.#head);
    return queue;
  }

  shift(): void {
    this.#items[this.#head++] = undefined;
    if (this.#head < MAX_CONSUMED_ITEMS || this.#head * 2 < this.#items.length) return;
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}

/** The result of an update that this copy expects. */
export interface PreliminaryReply {
  readonly value: unknown;
  readonly meta?: { readonly remaining: number };
}

/** The result of an operation, with the version of the state that it was read from. */
export interface ReplicaReply extends ViewDetails {
  readonly value: unknown;
  readonly version: number;
}

interface Entry {
  value: unknown;
  /** How often the key was written. */
  version: number;
}

export class Replica {
  /** The number of updates that this copy has applied. It is the version of its state. */
  applied = 0;
  readonly #entries = new Map<string, Entry>();
  readonly #queues = new Map<string, ItemQueue>();

  copyFrom(other: Replica): void {
    this.applied = other.applied;
    for (const [key, entry] of other.#entries) this.#entries.set(key, { ...entry });
    for (const [name, queue] of other.#queues) this.#queues.set(name, queue.copy());
  }

  read(operation: Operation): ReplicaReply {
    const version = this.applied;
    switch (operation.name) {
      case 'get':
        return {
          value: this.#getValue((operation.args as GetArgs).key),
          version,
        };
      case 'getMany':
        return {
          value: (operation.args as GetManyArgs).keys.map((key) => this.#getValue(key)),
          version,
        };
      case 'readVersions':
        return {
          value: this.#readVersions(operation.args as ReadVersionsArgs),
          version,
        };
      default: {
        const queue = this.#getQueue(operation);
        return {
          value: getItem(queue, 0),
          version,
          meta: { remaining: queue.length },
        };
      }
    }
  }

  apply(operation: Operation): ReplicaReply {
    const version = ++this.applied;
    switch (operation.name) {
      case 'put': {
        const { key, value } = operation.args as PutArgs;
        this.#write(key, value);
        return { value: undefined, version };
      }
      case 'commit':
        return { value: this.#commit(operation.args as CommitArgs), version };
      case 'enqueue':
        this.#getQueue(operation).push((operation.args as EnqueueArgs).item);
        return { value: undefined, version };
      default: {
        const queue = this.#getQueue(operation);
        const value = getItem(queue, 0);
        if (value !== null) queue.shift();
        return { value, version, meta: { remaining: queue.length } };
      }
    }
  }

  /**
   * Returns what `operation` would return here if the updates `before` had been applied. These
   * concern the same objects, and this copy has not applied them yet.
   */
  simulate(operation: Operation, before: readonly Operation[]): PreliminaryReply {
    if (operation.name === 'commit')
      return {
        value: this.#simulateCommit(operation.args as CommitArgs, before),
      };
    if (operation.name !== 'dequeue') return { value: undefined };
    const queue = this.#getQueue(operation);
    const appended: unknown[] = [];
    let taken = 0;
    for (const earlier of before) {
      if (earlier.name === 'enqueue') appended.push((earlier.args as EnqueueArgs).item);
      else if (taken < queue.length + appended.length) taken++;
    }
    const left = queue.length + appended.length - taken;
    if (left === 0) return { value: null, meta: { remaining: 0 } };
    const item = taken < queue.length ? queue.at(taken) : appended[taken - queue.length];
    return { value: { item }, meta: { remaining: left - 1 } };
  }

  #write(key: string, value: unknown): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      this.#entries.set(key, { value, version: 1 });
      return;
    }
    entry.value = value;
    entry.version += 1;
  }

  #getValue(key: string): unknown {
    return this.#entries.get(key)?.value;
  }

  #getVersion(key: string): number {
    return this.#entries.get(key)?.version ?? 0;
  }

  /**
   * Copies the values, because functions of transactions may change what they have read. Without a
   * commit, that must have no effect.
   */
  #readVersions({ keys, known }: ReadVersionsArgs): VersionedValue[] {
    return keys.map((key, at) => {
      const version = this.#getVersion(key);
      if (known?.[at] === version) return { version };
      return { version, value: copyOrReuse(this.#getValue(key)) };
    });
  }

  #commit({ reads, writes }: CommitArgs): CommitResult {
    const changed = reads.filter((read) => this.#hasChanged(read)).map(({ key }) => key);
    if (changed.length > 0) return { committed: false, changed };
    for (const { key, value } of writes) this.#write(key, value);
    return { committed: true, changed };
  }

  /**
   * Certifies a commit against this copy. A write in flight counts as a change of the version of
   * its keys.
   */
  #simulateCommit({ reads }: CommitArgs, before: readonly Operation[]): CommitResult {
    const inFlight = new Set(before.flatMap(getWrittenKeys));
    const changed = reads
      .filter((read) => inFlight.has(read.key) || this.#hasChanged(read))
      .map(({ key }) => key);
    return { committed: changed.length === 0, changed };
  }

  #hasChanged({ key, version }: VersionedRead): boolean {
    return this.#getVersion(key) !== version;
  }

  #getQueue(operation: Operation): ItemQueue {
    const name = (operation.args as { readonly queue: string }).queue;
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      queue = new ItemQueue();
      this.#queues.set(name, queue);
    }
    return queue;
  }
}

function getItem(queue: ItemQueue, at: number): { readonly item: unknown } | null {
  return at < queue.length ? { item: queue.at(at) } : null;
}

/** Returns whether the result of a write depends on earlier writes of the same objects. */
export function dependsOnEarlier({ name }: Operation): boolean {
  return name === 'commit' || name === 'dequeue';
}

/** Returns the keys that a write of values changes. A write to a queue has none. */
export function getWrittenKeys({ name, args }: Operation): readonly string[] {
  if (name === 'commit') return (args as CommitArgs).writes.map(({ key }) => key);
  return name === 'put' ? [(args as PutArgs).key] : [];
}
