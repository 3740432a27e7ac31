/**
 * Sites of a RedBlue service, as `createEmbedded` puts them up, of which one can be closed while
 * the others go on: three, since red updates need most of them.
 */
import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import type { Binding } from '../../../src/correctable/binding.ts';
import { defineContract } from '../../../src/contract/index.ts';
import { blue, defineService, log, red, table, withMeta } from '../../../src/server/index.ts';
import { Link } from '../../../src/server/node/links/link.ts';
import { SiteBinding } from '../../../src/server/node/submission/site-binding.ts';
import type { Envelope } from '../../../src/server/site/wire/envelope.ts';
import { Origins } from '../../../src/server/service/records/origin.ts';
import { SignedTokens } from '../../../src/bindings/shared/signed-tokens.ts';
import { createClockObserver } from '../../../src/server/node/alarms/replica-alarms.ts';
import { SiteDriver } from '../../../src/server/node/site-driver.ts';
import { createVolatileStorage } from '../../../src/server/node/storage/directory/open-storage.ts';
import { getSiteIndex, siteAt } from '../origins.ts';

const args = z.object({ mark: z.string() });
const result = z.object({ mark: z.string(), run: z.string() });

export const contract = defineContract('outcomes', {
  bump: { access: 'write', args, result },
  bumpRed: { access: 'write', args, result },
  count: {
    access: 'read',
    args,
    result: z.object({ mark: z.string(), runs: z.array(z.string()) }),
  },
});

interface Run {
  readonly mark: string;
  readonly run: string;
}

/** Each run of a write has a name, which its result carries. So a result identifies its run. */
const service = defineService(contract, {
  tables: { marks: table({ runs: log<string>() }) },
  shadowOperations: ({ marks }) => ({
    add: blue(({ mark, run }: Run) => [marks.row(mark).runs.append(run)]),
    addRed: red(({ mark, run }: Run) => [marks.row(mark).runs.append(run)]),
  }),
  generators: {
    bump: ({ mark }, { shadow, uniqueId }) => {
      const item = { mark, run: uniqueId() };
      return shadow.add(item, withMeta(item, { of: mark }));
    },
    bumpRed: ({ mark }, { shadow, uniqueId }) => {
      const item = { mark, run: uniqueId() };
      return shadow.addRed(item, withMeta(item, { of: mark }));
    },
    count: ({ mark }, { tables }) => ({ mark, runs: [...tables.marks.row(mark).runs] }),
  },
});

export const SITES = ['a', 'b', 'c'] as const;
/**
 * The site that orders red updates. No client uses it and it is not closed, so red updates have a
 * preliminary view, wait, and succeed.
 */
const RED_LEADER = 2;
const ONE_WAY_MS = 3;
const WAIT_MS = 5_000;
const LIMITS = {
  maxAttempts: 10,
  maxInFlight: 1_000,
  maxBacklogEntries: 100_000,
  maxClockSkewMs: 10_000,
  tickIntervalMs: 1_000,
  reachTimeoutMs: WAIT_MS,
  sessionTimeoutMs: WAIT_MS,
  resendAfterMs: 4_000,
};

export class RedBlueSites {
  readonly #drivers: SiteDriver[] = [];
  readonly #links: Link<Envelope>[] = [];
  readonly #closed = new Set<number>();

  constructor() {
    const storage = createVolatileStorage({ sites: SITES });
    const origins = Origins.create(SITES);
    for (const [site, siteStorage] of storage.sites.entries()) {
      const links = [...SITES.keys()].map((to) => {
        const deliver = (envelopes: readonly Envelope[]): void =>
          this.#drivers[to]?.receive(envelopes);
        return new Link<Envelope>({ delayMs: ONE_WAY_MS, deliver });
      });
      this.#links.push(...links);
      const driver = new SiteDriver({
        service,
        deployment: 'test',
        site: siteAt(site),
        origins,
        redLeader: siteAt(RED_LEADER),
        storage: siteStorage,
        send: (envelope) => links[getSiteIndex(envelope.to.site)]?.send(envelope),
        tokens: new SignedTokens({ key: 'k'.repeat(32), scope: SITES, site: siteAt(site) }),
        observer: createClockObserver(origins, siteAt(site), () => {}),
        generators: { limits: { determinismCheckRate: 1 }, elapsedMs: () => performance.now() },
        ...LIMITS,
      });
      this.#drivers.push(driver);
    }
    for (const driver of this.#drivers) driver.start();
  }

  /** The sites that have not been closed. */
  get open(): number[] {
    return [...SITES.keys()].filter((site) => !this.#closed.has(site));
  }

  binding(site: number): Binding {
    return new SiteBinding(
      SITES[site] as string,
      this.#drivers[site] as SiteDriver,
    ) as unknown as Binding;
  }

  /**
   * Closes one of the first two sites for good, unless one is closed already. Its messages to
   * others are still in flight.
   */
  closeSite(site: number): boolean {
    if (this.#closed.size > 0) return false;
    this.#closed.add(site);
    this.#drivers[site]?.close();
    return true;
  }

  close(): void {
    for (const link of this.#links) link.close();
    for (const driver of this.#drivers) driver.close();
  }
}
