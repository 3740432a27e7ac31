/** Operations on replicated queues (Correctables, OSDI 2016, §4.3 and §5.2). */
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

/** Options of `dequeue`. */
export interface DequeueOptions {
  /**
   * Whether all items are of equal use to the application, as seats of one price are. Then a view
   * confirms another if both have an item or neither has one. Work that was begun for the
   * preliminary item goes on. Default: `false`
   */
  readonly anyItem?: boolean | undefined;
}

export interface PeekArgs {
  readonly queue: string;
}

/** The result of `dequeue` and `peek` if the queue is not empty. */
export interface QueueItem<T = unknown> {
  readonly item: T;
}

/**
 * Appends `item` to `queue`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the queue name is empty
 * @example
 * await store.invoke(enqueue('jobs', { id: 7 }));
 */
export function enqueue<T>(queue: string, item: T): Operation<void> {
  const args: EnqueueArgs<T> = { queue: checkName(queue, 'queue'), item };
  return { name: 'enqueue', args, access: 'write', key: queue };
}

/**
 * Takes the first item of `queue`; `null` if it is empty. `getRemaining(view)` returns how many are
 * left after it. `getSafeThreshold(view)` returns how many items other clients may take first, if
 * the store knows. The item of a preliminary view is a guess. A final with another item is a
 * correction, unless `anyItem` makes all items alike.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the queue name is empty
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
  const operation = {
    name: 'dequeue',
    args,
    access: 'write',
    key: queue,
  } as const;
  return anyItem ? { ...operation, equals: areBothNullOrNeither } : operation;
}

/**
 * Reads the first item of `queue` and leaves it there; `null` if it is empty. `getRemaining(view)`
 * returns how many items are in the queue.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the queue name is empty
 * @example
 * const next = await store.invokeWeak(peek('jobs'));
 */
export function peek<T = unknown>(queue: string): Operation<QueueItem<T> | null> {
  const args: PeekArgs = { queue: checkName(queue, 'queue') };
  return { name: 'peek', args, access: 'read', key: queue };
}

/**
 * Returns how many items a view of a `dequeue` has left after the one taken; of a `peek`, how many
 * there are. Returns `NaN` if the store does not report it. No comparison with `NaN` is true, so
 * code that compares waits for the final.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `view` is no view
 * @example
 * const { value } = await store
 *   .invoke(dequeue('tickets'))
 *   .settle({ enough: (view) => getRemaining(view) > 20 });
 */
export function getRemaining(view: Pick<AnyView, 'meta'>): number {
  checkRecord(view, { call: 'getRemaining(view)', field: 'view' });
  const reported = view.meta?.['remaining'];
  return typeof reported === 'number' ? reported : NaN;
}

function areBothNullOrNeither(a: unknown, b: unknown): boolean {
  return (a === null) === (b === null);
}
