/** What a data folder is filled with, and asked. */
import { createClient } from '../../../src/correctable/made/client.ts';
import type { InvocationContext } from '../../../src/correctable/binding.ts';
import { createEmbedded } from '../../../src/server/embedded.ts';
import type { Embedded } from '../../../src/server/embedded.ts';
import { keptContract, keptService } from './service.ts';

export const SITES = ['irl', 'frk', 'vrg'] as const;
export type Kept = Embedded<(typeof SITES)[number]>;
type Site = (typeof SITES)[number];

export function openKept(dataDir: string): Kept {
  return createEmbedded(keptService(), { sites: SITES, dataDir });
}

/** One turn of work: both colours at each site, rows that go and come again. Ends when all of it is answered. */
export async function work(kept: Kept, turn: number): Promise<void> {
  for (const site of SITES) {
    const client = createClient(kept.site(site));
    const text = `${site} ${turn}`;
    await client.invoke(keptContract.note({ key: 'shared', text }));
    await client.invoke(keptContract.note({ key: site, text }));
    await client.invoke(keptContract.count({ key: 'all', text }));
    await client.invokeStrong(keptContract.sell({ key: `sale ${turn % 2}`, text }));
  }
  if (turn % 3 === 2) await createClient(kept.site('frk')).invoke(keptContract.forget({ key: 'irl', text: '' }));
  if (turn % 4 === 3) await createClient(kept.site('vrg')).invokeStrong(keptContract.close({ key: 'frk', text: '' }));
}

/** An update with a name, which is done once however often it is asked for. */
export function named(kept: Kept, site: Site, sequence: number, operation = 'count'): Promise<unknown> {
  const args = { key: 'named', text: `${sequence}` };
  const asked = operation === 'count' ? keptContract.count(args) : keptContract.sell(args);
  return new Promise((resolve, reject) => {
    const sink = { update: (value: unknown) => (resolve(value), 0), confirm: () => {}, fail: reject };
    const origin = { client: `ann-${operation}`, sequence, acknowledged: 0 };
    const context: InvocationContext = {
      signal: new AbortController().signal,
      deadlineAt: undefined,
      session: undefined,
      trace: undefined,
      origin,
    };
    void kept.site(site).submitOperation(asked, [operation === 'count' ? 'causal' : 'strong'], sink, context);
  });
}

/** What a site shows, once it has all that the others had answered before. */
export async function shown(kept: Kept, site: Site): Promise<unknown> {
  return await createClient(kept.site(site)).invokeStrong(keptContract.show({}));
}
