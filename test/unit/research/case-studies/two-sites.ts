/** Two sites of a case study in this process, without delays, and a client beside each. */
import { createClient, type Client, type Operation } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { createEmbedded, type Service, type SiteAlarm } from 'correctables/server';
import type { Store } from '../../../../research/case-studies/case-study.ts';

/** The sites, and what they have answer: invariants that do not hold, above all. */
export interface TwoSites extends AsyncDisposable {
  readonly east: Client<RedBlueLevels>;
  readonly west: Client<RedBlueLevels>;
  readonly alarms: readonly SiteAlarm[];
}

/** Generators run twice each, and have to do the same. */
export function twoSites(service: Service): TwoSites {
  const alarms: SiteAlarm[] = [];
  const deployment = createEmbedded(service, {
    sites: ['ue', 'uw'],
    generators: { determinismCheckRate: 1 },
    onAlarm: (alarm) => void alarms.push(alarm),
  });
  return {
    east: createClient(deployment.site('ue')),
    west: createClient(deployment.site('uw')),
    alarms,
    [Symbol.asyncDispose]: () => deployment.close(),
  };
}

/** Asks at `west` until it has heard of it. */
export async function until<T>(
  client: Client<RedBlueLevels>,
  operation: Operation<T>,
  holds: (value: T) => boolean,
): Promise<T> {
  for (;;) {
    const value = await client.invokeStrong(operation);
    if (holds(value)) return value;
  }
}

/** What came of it, and at which level that is final. */
export async function getFinal<T>(
  client: Client<RedBlueLevels>,
  operation: Operation<T>,
): Promise<{ readonly value: T; readonly level: string }> {
  let level = '';
  const value = await client.invoke(operation).onFinal((_, view) => (level = view.level));
  return { value, level };
}

/** As a user of the study reaches it: reads are the site's own. */
export function storeOf(client: Client<RedBlueLevels>): Store {
  return {
    ask: async (operation) =>
      operation.access === 'read'
        ? client.invoke(operation, { levels: ['causal'] })
        : client.invoke(operation),
  };
}
