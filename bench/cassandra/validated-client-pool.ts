/**
 * A client pool that checks its reports. Without preliminary views, a report would show that these
 * cost nothing.
 */
import { checkViews } from '../harness/preconditions.ts';
import type { Site } from '../../engines/wan.ts';
import type { LoadOrder, LoadReport, System } from './messages.ts';

/** The report of a load from the client beside each site. */
interface Loaded {
  load(order: Omit<LoadOrder, 'kind'>): Promise<ReadonlyMap<Site, LoadReport>>;
}

/** Returns whether each read of the system has a preliminary view, by one request or by two. */
function isIncremental(system: System): boolean {
  return system.startsWith('CC') || system === 'C1 + C2';
}

/** Opens a client pool. If reads lack preliminary views, a load rejects in place of a report. */
export function openValidatedClientPool<C extends Loaded>(crew: C): C {
  return {
    ...crew,
    async load(order) {
      const reports = await crew.load(order);
      for (const [site, { reads, preliminaries }] of isIncremental(order.system) ? reports : []) {
        checkViews(`${order.system}, client in ${site}`, { views: preliminaries, of: reads });
      }
      return reports;
    },
  };
}
