/** The portable vocabulary: operations that several stores understand. Browser-safe. */
export { get, getMany, put } from './key-value.ts';
export type { GetArgs, GetManyArgs, PutArgs } from './key-value.ts';
export { dequeue, enqueue, peek, remaining } from './queue.ts';
export type { DequeueArgs, DequeueOptions, EnqueueArgs, PeekArgs, QueueItem } from './queue.ts';
export { safeThreshold } from './safe-threshold.ts';
export type { Elsewhere, Pace } from '../correctable/pace/unseen.ts';
