/** The portable vocabulary: operations that several stores understand. Browser-safe. */
export { get, getMany, put, remove } from './key-value.ts';
export type { GetArgs, GetManyArgs, PutArgs, PutOptions, RemoveArgs } from './key-value.ts';
export { dequeue, enqueue, peek, getRemaining } from './queue.ts';
export type { DequeueArgs, DequeueOptions, EnqueueArgs, PeekArgs, QueueItem } from './queue.ts';
export { getSafeThreshold } from './safe-threshold.ts';
export type { ConcurrentWriters, Throttle } from '../correctable/throttle/concurrent-writes.ts';
export { commit, MAX_TRANSACTION_KEYS, readVersions } from './versioned.ts';
export type {
  BufferedWrite,
  CommitArgs,
  CommitResult,
  ReadVersionsArgs,
  Version,
  VersionedRead,
  VersionedValue,
} from './versioned.ts';
