/** The second site of two, whose leader is never heard of: its driver, with storage in memory. */
import { Origins } from '../../../../src/server/records/origin.ts';
import type { Service } from '../../../../src/server/service/service.ts';
import { SignedTokens } from '../../../../src/server/site/session-tokens.ts';
import { SiteDriver } from '../../../../src/server/site/site-driver.ts';
import type { SiteDriverOptions } from '../../../../src/server/site/site-driver.ts';
import { VolatileStorage } from '../../../../src/server/storage/volatile-storage.ts';
import { siteAt } from '../../../support/origins.ts';

export function startSecondSite(service: Service, given: Partial<SiteDriverOptions> = {}): SiteDriver {
  const origins = Origins.of(['a', 'b']);
  const [leader, site] = [siteAt(0), siteAt(1)];
  const driver = new SiteDriver({
    service,
    deployment: 'test',
    site,
    origins,
    redLeader: leader,
    storage: new VolatileStorage(1),
    send: () => {},
    tokens: new SignedTokens({ key: 'k'.repeat(32), sites: origins.names, site }),
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
