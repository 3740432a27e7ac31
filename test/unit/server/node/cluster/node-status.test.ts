/** What operators read of a node. */
import { expect, test } from 'vitest';
import type { SiteAlarm } from '../../../../../src/server/node/alarms/site-alarm.ts';
import { describeState, RecentAlarms } from '../../../../../src/server/node/cluster/node-status.ts';

const alarm = (kind: SiteAlarm['kind'], message: string): SiteAlarm => ({
  kind,
  site: 'ireland',
  message,
});

test('a site that serves and is refused by all others → says why', () => {
  const situation = {
    transfer: undefined,
    waitingFor: undefined,
    cannotStart: undefined,
    sealed: undefined,
  };
  const refusal =
    'no other site accepts its connections: frankfurt refuses them, since it has another key';
  expect(describeState({ ...situation, driver: {}, refusal })).toEqual({
    state: 'serving',
    problem: refusal,
  });
  expect(describeState({ ...situation, driver: {}, refusal: undefined })).toEqual({
    state: 'serving',
  });
});

test('many alarms of one kind → the latest of them are kept, and one of another kind stays', () => {
  const alarms = new RecentAlarms();
  alarms.add(alarm('link-refused', 'of a peer'));
  for (let count = 0; count < 300; count += 1)
    alarms.add(alarm('message-rejected', `message ${count}`));
  const messages = alarms.list().map(({ message }) => message);
  expect([messages.length, messages[0], messages.at(-1)]).toEqual([
    100,
    'of a peer',
    'message 299',
  ]);
});
