/** Alarms of messages between sites: they name both sites, and their rate is limited. */
import { expect, test } from 'vitest';
import type { SiteAlarm } from '../../../../../src/server/node/alarms/site-alarm.ts';
import { RejectedMessageError } from '../../../../../src/server/site/wire/envelope.ts';
import { Origins } from '../../../../../src/server/service/records/origin.ts';
import {
  createLinkAlarm,
  createRejectionAlarm,
} from '../../../../../src/server/node/alarms/replica-alarms.ts';
import { siteAt } from '../../../../support/origins.ts';

const origins = Origins.create(['ireland', 'frankfurt']);

test('a rejected message → the alarm names the site, the sender if known, and the cause', () => {
  const reported: SiteAlarm[] = [];
  const alarm = createRejectionAlarm(origins, siteAt(0), (item) => void reported.push(item));
  alarm(new RejectedMessageError('content', 'sequence: is missing', siteAt(1)));
  alarm(new RejectedMessageError('unreadable', 'it is no envelope'));
  expect(reported).toMatchObject([
    { kind: 'message-rejected', site: 'ireland', peer: 'frankfurt' },
    { kind: 'message-rejected', site: 'ireland', peer: 'an unknown site' },
  ]);
  expect(reported[0]?.message).toContain('sequence: is missing');
});

test('many in a second → ten are reported, and the next reports how many were left out', () => {
  const reported: string[] = [];
  let nowMs = 0;
  const alarm = createLinkAlarm(
    'ireland',
    'frankfurt',
    ({ message }) => void reported.push(message),
    () => nowMs,
  );
  for (let count = 0; count < 15; count += 1) alarm();
  nowMs = 1000;
  alarm();
  expect(reported).toHaveLength(11);
  expect(reported.at(-1)).toContain('5 more alarms of this kind were left out');
});
