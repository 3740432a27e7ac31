/** Clients that are believed only where the views were there: of who has none, they would tell that these cost nothing. */
import { checkViews } from '../harness/preconditions.ts';
import type { Site } from '../../engines/wan.ts';
import type { LoadOrder, LoadReport, System } from './messages.ts';

/** Carries out a load, by the client beside each site. */
interface Loaded {
  load(order: Omit<LoadOrder, 'kind'>): Promise<ReadonlyMap<Site, LoadReport>>;
}

/** Whether each of its reads has a preliminary view, by one request or by two. */
function isIncremental(system: System): boolean {
  return system.startsWith('CC') || system === 'C1 + C2';
}

/** The same crew. The report of a load is an error where reads lack preliminary views. */
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
