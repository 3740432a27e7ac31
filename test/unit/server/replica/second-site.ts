/** The second site of two, whose leader is never heard of: its driver, with storage in memory. */
import type { Service } from '../../../../src/server/service/service.ts';
import { SignedTokens } from '../../../../src/server/site/session-tokens.ts';
import { SiteDriver } from '../../../../src/server/site/site-driver.ts';
import type { SiteDriverOptions } from '../../../../src/server/site/site-driver.ts';
import { VolatileStorage } from '../../../../src/server/storage/volatile-storage.ts';

export function startSecondSite(service: Service, given: Partial<SiteDriverOptions> = {}): SiteDriver {
  const sites = ['a', 'b'];
  const driver = new SiteDriver({
    service,
    site: 1,
    sites,
    redLeader: 0,
    storage: new VolatileStorage(1),
    send: () => {},
    tokens: new SignedTokens({ key: 'k'.repeat(32), sites, site: 1 }),
    tickMs: 5,
    inFlightMax: 10,
    redInFlightMax: 10,
    backlogMax: 100,
    attemptsMax: 10,
    maxClockSkewMs: 10_000,
    reachTimeoutMs: 5000,
    sessionWaitMs: 5000,
    resendAfterMs: 1000,
    ...given,
  });
  driver.start();
  return driver;
}
