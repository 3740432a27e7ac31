/** No seat is reserved twice, although each reservation is a row of its own: what a scan did not find, nobody inserts. */
import type { Origin } from '../../../server/records/origin.ts';
import { require } from './checker.ts';
import type { AnyOperation, Checker } from './checker.ts';
import type { SiteState } from '../../../server/replica/core/site-state.ts';

export class SeatChecker implements Checker {
  readonly name = 'seats';

  applied(site: Origin, operation: AnyOperation, { store }: SiteState): void {
    for (const { table, key } of operation.effects) {
      if (table !== 'seats') continue;
      const seat = key.slice(0, key.indexOf('/') + 1);
      const rows = [...store.scan({ table, from: seat, upTo: `${seat}\uffff` }, false)];
      require(rows.length === 1, () => `at site ${site}, after ${operation.id}, ${rows.length} have reserved ${seat}`);
    }
  }
}
