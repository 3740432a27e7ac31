/**
 * The driver of a site ends it if another node has gone on as that site, and alerts the operator.
 */
// @rule CLU-I9
import { performance } from 'node:perf_hooks';
import { expect, test, vi } from 'vitest';
import { put } from '../../../../src/operations/index.ts';
import { createSiteAlarms, type SiteAlarm } from '../../../../src/server/node/alarms/site-alarm.ts';
import type { Envelope } from '../../../../src/server/site/wire/envelope.ts';
import { RULES_VERSION } from '../../../../src/server/service/records/deployment-version.ts';
import { Origins } from '../../../../src/server/service/records/origin.ts';
import type { SiteDriver } from '../../../../src/server/node/site-driver.ts';
import type { SiteDriverOptions } from '../../../../src/server/node/site-driver.ts';
import { ALONE_AFTER_MS } from '../../../../src/server/site/site-options.ts';
import type { Submitter } from '../../../../src/server/node/submission/submitter.ts';
import { siteAt } from '../../../support/origins.ts';
import { startSecondSite } from '../site/second-site.ts';
import { notesService } from './storage/notes-service.ts';

const ORIGINS = Origins.create(['a', 'b']);

/** The second site, whose messages are in `sent`, and its alarms. */
function startSite(options: Partial<SiteDriverOptions> = {}): {
  readonly driver: SiteDriver;
  readonly sent: Envelope[];
  readonly alarms: SiteAlarm[];
} {
  const sent: Envelope[] = [];
  const alarms: SiteAlarm[] = [];
  const driver = startSecondSite(notesService(), {
    send: (envelope) => void sent.push(envelope),
    ...createSiteAlarms('b', ORIGINS, (alarm) => alarms.push(alarm)),
    ...options,
  });
  return { driver, sent, alarms };
}

function submit(driver: SiteDriver, failures: unknown[], views: unknown[] = []): void {
  const { name, args } = put('k', 'v');
  driver.submit({
    handle: driver,
    plan: driver.plans.get(name)!,
    args,
    signal: new AbortController().signal,
    deadlineAt: undefined,
    serial: 0,
    seed: 0,
    submittedAtMs: 0,
    wantedStages: { tentative: false, causal: false, strong: true },
    onView: (stage) => views.push(stage),
    onFailure: (error) => failures.push(error),
  } satisfies Submitter);
}

test('a node that another site knows as a fork → ends with UNAVAILABLE and an alarm', () => {
  const { driver, sent, alarms } = startSite();
  const { term } = sent[0] as Envelope;
  const message = {
    kind: 'node.fork',
    term,
    reason: 'its first 7 operations are not those that are here',
  } as const;
  const [from, to] = [siteAt(0), siteAt(1)].map((site) => ({ site, partition: 0 }));
  driver.receive([
    { deployment: 'test', rules: RULES_VERSION, from: from!, to: to!, term: 9, message },
  ]);
  expect(alarms).toEqual([
    {
      kind: 'site-forked',
      site: 'b',
      message: expect.stringMatching(/has stopped.*a reports: its first 7 operations.*--rebuild/),
    },
  ]);
  expect(driver.failure).toMatchObject({ code: 'UNAVAILABLE', retryable: false });
  const failures: unknown[] = [];
  submit(driver, failures);
  expect(failures).toEqual([expect.objectContaining({ code: 'UNAVAILABLE', retryable: false })]);
});

test('the start of another site that is a fork → an alarm that names it', () => {
  const alarms: SiteAlarm[] = [];
  createSiteAlarms('b', ORIGINS, (alarm) => alarms.push(alarm)).onForked(
    'its first 7 operations are others',
    siteAt(0),
  );
  expect(alarms).toEqual([
    expect.objectContaining({
      kind: 'site-forked',
      site: 'b',
      peer: 'a',
      message: expect.stringContaining('its first 7'),
    }),
  ]);
});

test('no site answers a start → the site refuses updates after a while, with an alarm', async () => {
  const { driver, alarms } = startSite({ needsPeer: true });
  const failures: unknown[] = [];
  submit(driver, failures);
  expect([failures, driver.writeRefusal]).toEqual([[], undefined]);
  const startedAt = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(startedAt + ALONE_AFTER_MS);
  await vi.waitFor(() =>
    expect(failures).toEqual([expect.objectContaining({ code: 'UNAVAILABLE' })]),
  );
  vi.restoreAllMocks();
  expect(alarms).toEqual([expect.objectContaining({ kind: 'site-alone', site: 'b' })]);
  expect(driver.writeRefusal?.message).toContain('No other site has confirmed this start');
  driver.close();
});
