/** No item is taken twice and none is lost: seen from outside, by what clients were told. */
import { answerOf } from '../history.ts';
import type { ClientOperation } from '../history.ts';
import type { QueueView } from '../../../server/redblue/fields/queue-view.ts';
import { require } from './checker.ts';
import type { Checker, FinalState } from './checker.ts';

export class QueueChecker implements Checker {
  readonly name = 'queues';

  finished({ history, sites }: FinalState): void {
    const takenBy = new Map<unknown, string>();
    for (const operation of history.answered('dequeue')) {
      const item = answerOf(operation);
      if (item === null) continue;
      const other = takenBy.get(item);
      require(other === undefined, () => `${String(item)} was given to ${operation.id} and to ${String(other)}`);
      takenBy.set(item, operation.id);
    }
    for (const [index, site] of sites.entries()) {
      const left = new Set<unknown>();
      for (const { key } of site.store.scan({ table: 'queues' }, false)) {
        const items = site.store.read('queues', key, 'items') as QueueView;
        for (let place = 0; place < items.size; place += 1) left.add(items.at(place));
      }
      const isLost = ({ args }: ClientOperation): boolean => !takenBy.has(args['text']) && !left.has(args['text']);
      const lost = history.answered('enqueue').find(isLost);
      require(lost === undefined, () => `${String(lost?.args['text'])} was enqueued and is gone from site ${index}`);
    }
  }
}
