/** Alarms of messages between sites: they name both, and are told so many a second. */
import { expect, test } from 'vitest';
import type { SiteAlarm } from '../../../../src/server/alarms/site-alarm.ts';
import { RefusedMessage } from '../../../../src/server/messages/envelope.ts';
import { Origins } from '../../../../src/server/records/origin.ts';
import { fullLinkAlarm, refusalAlarm } from '../../../../src/server/site/replica-alarms.ts';
import { siteAt } from '../../../support/origins.ts';

const origins = Origins.of(['irl', 'frk']);

test('a message that is not taken → which site, of whom, and why; of somebody who is not known, too', () => {
  const told: SiteAlarm[] = [];
  const alarm = refusalAlarm(origins, siteAt(0), (each) => void told.push(each));
  alarm(new RefusedMessage('content', 'sequence: is missing', siteAt(1)));
  alarm(new RefusedMessage('unreadable', 'it is no envelope'));
  expect(told).toMatchObject([
    { kind: 'message-refused', site: 'irl', peer: 'frk' },
    { kind: 'message-refused', site: 'irl', peer: 'somebody' },
  ]);
  expect(told[0]?.message).toContain('sequence: is missing');
});

test('many in a second → ten are told, and the next says how many were left out', () => {
  const told: string[] = [];
  let nowMs = 0;
  const alarm = fullLinkAlarm(
    'irl',
    'frk',
    ({ message }) => void told.push(message),
    () => nowMs,
  );
  for (let count = 0; count < 15; count += 1) alarm();
  nowMs = 1000;
  alarm();
  expect(told).toHaveLength(11);
  expect(told.at(-1)).toContain('5 more alarms of this kind were left out');
});
