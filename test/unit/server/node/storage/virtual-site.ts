/**
 * One site with the storage of production on a virtual disk; the other sites of its deployment are
 * never heard of.
 */
import { Origins } from '../../../../../src/server/service/records/origin.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
import { SignedTokens } from '../../../../../src/bindings/shared/signed-tokens.ts';
import { SiteDriver } from '../../../../../src/server/node/site-driver.ts';
import type { DurableStorageOptions } from '../../../../../src/server/node/storage/durable-storage.ts';
import { virtualStorage } from './virtual-storage.ts';
import type { VirtualMachine } from './virtual-storage.ts';
import { siteAt } from '../../../../support/origins.ts';

const DEFAULTS = {
  maxAttempts: 3,
  maxInFlight: 1000,
  maxBacklogEntries: 1000,
  maxClockSkewMs: 1000,
  reachTimeoutMs: 1000,
  sessionTimeoutMs: 1000,
  resendAfterMs: 1000,
  tickIntervalMs: 1000,
};

export interface VirtualSiteOptions {
  readonly service: Service;
  /** The site is the first of them; it alone unless given. */
  readonly sites?: readonly string[];
  readonly maxBacklogEntries?: number;
  readonly sizes?: Partial<DurableStorageOptions>;
}

/** Starts the site on a machine. To be closed by the test. */
export function startSite(
  machine: VirtualMachine,
  { service, sites = ['ireland'], sizes = {}, ...limits }: VirtualSiteOptions,
): SiteDriver {
  const storage = virtualStorage(machine, sizes);
  const origins = Origins.create(sites);
  const site = siteAt(0);
  const tokens = new SignedTokens({ key: 'k'.repeat(32), scope: sites, site });
  const place = {
    deployment: 'test',
    service,
    site,
    origins,
    redLeader: site,
    storage,
    tokens,
    send: () => {},
  };
  const driver = new SiteDriver({ ...place, ...DEFAULTS, ...limits });
  driver.start();
  return driver;
}
