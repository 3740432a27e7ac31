/** No item is taken twice and none is lost, judged by the views of clients. */
import type { ClientOperation } from '../../../src/testing/simulator/history.ts';
import type { QueueView } from '../../../src/server/service/fields/pending-queue.ts';
import {
  assertProperty,
  type Checker,
  type FinalState,
} from '../../../src/testing/simulator/checkers/checker.ts';

export class QueueChecker implements Checker {
  readonly name = 'queues';

  onFinished({ history, sites }: FinalState): void {
    const takenBy = new Map<unknown, string>();
    for (const operation of history.getAnswered('dequeue')) {
      const item = operation.replies[0]?.value;
      if (item === null) continue;
      const other = takenBy.get(item);
      assertProperty(
        other === undefined,
        () => `${String(item)} was given to ${operation.id} and to ${String(other)}`,
      );
      takenBy.set(item, operation.id);
    }
    // A client with an unknown outcome may have taken an item.
    const takers = history.operations.filter(
      ({ operation, replies, error }) =>
        operation === 'dequeue' && replies.length === 0 && error === 'UNKNOWN',
    ).length;
    for (const { site, state } of sites) {
      const left = new Set<unknown>();
      for (const { key } of state.store.scan({ table: 'queues' }, false)) {
        const items = state.store.read('queues', key, 'items') as QueueView;
        for (let place = 0; place < items.size; place += 1) left.add(items.at(place));
      }
      const isLost = ({ args }: ClientOperation): boolean =>
        !takenBy.has(args['text']) && !left.has(args['text']);
      const lost = history.getAnswered('enqueue').filter(isLost);
      assertProperty(
        lost.length <= takers,
        () => `${lost.map(({ id }) => id).join()} enqueued what is gone from site ${site}`,
      );
    }
  }
}
