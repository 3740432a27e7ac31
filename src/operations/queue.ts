/** Replicated queues (Correctables, OSDI 2016, §4.3 and §5.2). */
import { checkRecord } from '../correctable/validate.ts';
import type { Operation } from '../correctable/operation.ts';
import type { AnyView } from '../correctable/view.ts';
import { checkName } from './check-name.ts';

export interface EnqueueArgs<T = unknown> {
  readonly queue: string;
  readonly item: T;
}

export interface DequeueArgs {
  readonly queue: string;
}

/** What counts as the same result. */
export interface DequeueOptions {
  /**
   * Whether all items are alike to whoever takes one, as seats of one price: then a view confirms another when both have
   * an item or neither has, and what was begun for the item that was guessed goes on. Default false.
   */
  readonly anyItem?: boolean;
}

export interface PeekArgs {
  readonly queue: string;
}

/** What `dequeue` and `peek` give where the queue is not empty. */
export interface QueueItem<T = unknown> {
  readonly item: T;
}

/**
 * Appends `item` to `queue`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for an empty queue name.
 * @example
 * await store.invoke(enqueue('jobs', { id: 7 }));
 */
export function enqueue<T>(queue: string, item: T): Operation<void> {
  const args: EnqueueArgs<T> = { queue: checkName(queue, 'queue'), item };
  return { name: 'enqueue', args, access: 'write', key: queue };
}

/**
 * Takes the first item of `queue`: `null` where it is empty. The views say how many are left after this one, for
 * `remaining`, and preliminary ones, of stores that know, what others may take, for `getSafeThreshold`. A preliminary view
 * guesses the item: another one in the end is a correction, unless `anyItem` says that one is as good as the other.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for an empty queue name.
 * @example
 * const ticket = await store.invoke(dequeue<Ticket>('tickets')).settle({
 *   enough: (view) => view.value !== null && getRemaining(view) >= getSafeThreshold(view),
 * });
 */
export function dequeue<T = unknown>(
  queue: string,
  { anyItem = false }: DequeueOptions = {},
): Operation<QueueItem<T> | null> {
  const args: DequeueArgs = { queue: checkName(queue, 'queue') };
  const operation = { name: 'dequeue', args, access: 'write', key: queue } as const;
  return anyItem ? { ...operation, equals: areBothNullOrNeither } : operation;
}

/**
 * Reads the first item of `queue` and leaves it there: `null` where it is empty. The views say how many items are in the
 * queue, for `remaining`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for an empty queue name.
 * @example
 * const next = await store.invokeWeak(peek('jobs'));
 */
export function peek<T = unknown>(queue: string): Operation<QueueItem<T> | null> {
  const args: PeekArgs = { queue: checkName(queue, 'queue') };
  return { name: 'peek', args, access: 'read', key: queue };
}

/**
 * How many items a view of a `dequeue` says are left after the one taken, of a `peek` how many there are. `NaN`, which is
 * neither above nor below any number, where the store does not say: whoever compares waits for the final view then.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for what is no view.
 * @example
 * const { value } = await store.invoke(dequeue('tickets')).settle({ enough: (view) => getRemaining(view) > 20 });
 */
export function getRemaining(view: Pick<AnyView, 'meta'>): number {
  checkRecord(view, { call: 'getRemaining(view)', field: 'view' });
  const reported = view.meta?.['remaining'];
  return typeof reported === 'number' ? reported : NaN;
}

function areBothNullOrNeither(a: unknown, b: unknown): boolean {
  return (a === null) === (b === null);
}
