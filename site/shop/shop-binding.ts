/**
 * Executes the operations of the React shop on a binding with queues: the tickets of a concert are
 * a queue of seats.
 */
import type {
  Binding,
  InvocationContext,
  Levels,
  Operation,
  Sink,
  ViewDetails,
} from 'correctables';
import { dequeue, peek, type QueueItem } from 'correctables/operations';

/** A queue operation, and what the shop returns of its result. */
interface Translation {
  readonly operation: Operation<QueueItem<string> | null>;
  readonly convert: (item: QueueItem<string> | null, remaining: number) => unknown;
}

const toNumber = (_: unknown, remaining: number): number => remaining;
const toSale = (item: QueueItem<string> | null, left: number) => ({
  seat: item?.item ?? null,
  left,
});

function translate({ name, key = '' }: Operation): Translation | undefined {
  if (name === 'ticketsLeft') return { operation: peek(key), convert: toNumber };
  return name === 'buy' ? { operation: dequeue(key), convert: toSale } : undefined;
}

/** Returns the binding of the shop on `queues`. */
export function createShopBinding<L extends Levels>(queues: Binding<L>): Binding<L> {
  return {
    name: 'shop',
    consistencyLevels: () => queues.consistencyLevels(),
    supports: (operation) => translate(operation) !== undefined,
    openSession: (...args) => queues.openSession!(...args),
    submitOperation: <T>(
      operation: Operation<T>,
      levels: readonly L[number][],
      sink: Sink<T, L[number]>,
      context: InvocationContext,
    ): void => {
      const { operation: translated, convert } = translate(operation)!;
      const view = (
        value: QueueItem<string> | null,
        level: L[number],
        details?: ViewDetails,
      ): number =>
        sink.view(convert(value, Number(details?.meta?.['remaining'])) as T, level, details);
      const converting: Sink<QueueItem<string> | null, L[number]> = {
        view,
        confirm: (...args) => sink.confirm(...args),
        fail: (...args) => sink.fail(...args),
      };
      queues.submitOperation(translated, levels, converting, context);
    },
    close: () => queues.close(),
  };
}
