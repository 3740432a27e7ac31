/**
 * A site without a majority keeps all for the others, within bounds. Beyond these it refuses
 * updates until it is heard.
 */
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { createClient } from '../../../../src/index.ts';
import { get, put } from '../../../../src/operations/index.ts';
import type { SiteAlarm } from '../../../../src/server/node/alarms/site-alarm.ts';
import { Origins } from '../../../../src/server/service/records/origin.ts';
import { createClockObserver } from '../../../../src/server/node/alarms/replica-alarms.ts';
import { SiteBinding } from '../../../../src/server/node/submission/site-binding.ts';
import type { SiteDriver } from '../../../../src/server/node/site-driver.ts';
import { siteAt } from '../../../support/origins.ts';
import { startSecondSite } from '../site/second-site.ts';
import { notesService } from './storage/notes-service.ts';

const drivers: SiteDriver[] = [];
afterEach(() => {
  for (const driver of drivers.splice(0)) driver.close();
});

test('as many entries as may be kept → OVERLOADED and an alarm; once the other site has them, updates go on', async () => {
  const alarms: SiteAlarm[] = [];
  const origins = Origins.create(['a', 'b']);
  let isCut = true;
  const start = (site: number): SiteDriver => {
    const driver = startSecondSite(notesService(), {
      site: siteAt(site),
      origins: Origins.create(['a', 'b']),
      resendAfterMs: 20,
      absence: { maxBacklogEntries: 5, keepForMs: Infinity },
      observer: createClockObserver(origins, siteAt(site), (alarm) => void alarms.push(alarm)),
      send: (envelope) =>
        void endOfTurn().then(() => isCut || drivers[envelope.to.site - 1]?.receive([envelope])),
    });
    drivers.push(driver);
    return driver;
  };
  start(0);
  const client = createClient(new SiteBinding('b', start(1)));
  const write = (key: string): Promise<unknown> =>
    client.invokeStrong(put(key, 1)).then(
      () => 'done',
      (error: unknown) => error,
    );
  for (let n = 0; n < 6; n += 1) void write(`key ${n}`);
  const refused = { code: 'OVERLOADED', message: expect.stringContaining('or was retired') };
  await vi.waitFor(async () =>
    expect(await Promise.race([write('one more'), endOfTurn()])).toMatchObject(refused),
  );
  expect(await client.invokeWeak(get('key 0'))).toBe(1);
  const alarm = alarms.find(({ message }) => message.includes('updates are refused.'));
  expect(alarm).toMatchObject({
    kind: 'site-cut-off',
    site: 'b',
    message: expect.stringContaining('too long for a'),
  });
  isCut = false;
  await vi.waitFor(async () => expect(await write('later')).toBe('done'));
});
