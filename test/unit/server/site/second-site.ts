/** The second site of two, whose leader is never heard of: its driver, with storage in memory. */
import { Origins } from '../../../../src/server/service/records/origin.ts';
import type { Service } from '../../../../src/server/service/service.ts';
import { SignedTokens } from '../../../../src/bindings/shared/signed-tokens.ts';
import { SiteDriver } from '../../../../src/server/node/site-driver.ts';
import type { SiteDriverOptions } from '../../../../src/server/node/site-driver.ts';
import { VolatileStorage } from '../../../../src/server/node/storage/volatile-storage.ts';
import { siteAt } from '../../../support/origins.ts';

export function startSecondSite(
  service: Service,
  options: Partial<SiteDriverOptions> = {},
): SiteDriver {
  const origins = Origins.create(['a', 'b']);
  const [leader, site] = [siteAt(0), siteAt(1)];
  const driver = new SiteDriver({
    service,
    deployment: 'test',
    site,
    origins,
    redLeader: leader,
    storage: new VolatileStorage(1),
    send: () => {},
    tokens: new SignedTokens({ key: 'k'.repeat(32), scope: origins.names, site }),
    tickIntervalMs: 5,
    maxInFlight: 10,
    maxRedInFlight: 10,
    maxBacklogEntries: 100,
    maxAttempts: 10,
    maxClockSkewMs: 10_000,
    reachTimeoutMs: 5000,
    sessionTimeoutMs: 5000,
    resendAfterMs: 1000,
    ...options,
  });
  driver.start();
  return driver;
}
