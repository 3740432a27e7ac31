/**
 * Messages for which there is no room, as on a disk that is full: counted, and taken when they come
 * again.
 */
import { expect, test } from 'vitest';
import { get, put } from '../../../../src/operations/index.ts';
import { siteAt } from '../../../support/origins.ts';
import { Sites } from './sites.ts';
import { notesService } from '../node/storage/notes-service.ts';

const [SENDER, RECEIVER] = [1, 0];

test('what would have to be written down → counted, and not heard of until it comes again; the rest is taken', () => {
  const sites = new Sites(notesService(), 3);
  const receiver = sites.machines[RECEIVER];
  sites.settle();
  sites.submit(SENDER, put('k', 1));
  sites.sync(SENDER);
  const written = sites.sent.filter(({ to }) => to === RECEIVER);
  sites.sent = sites.sent.filter(({ to }) => to !== RECEIVER);
  expect(written.map(({ message }) => message.kind)).toEqual(['blue.operations']);
  const remaining = sites.machines[SENDER]?.door.filter.seal(siteAt(RECEIVER), {
    kind: 'blue.heartbeat',
    sequence: 0,
  });
  for (const { envelope } of [
    ...written,
    { envelope: remaining as (typeof written)[0]['envelope'] },
  ]) {
    receiver?.receive(envelope, sites.nowMs, sites.nowMs, false);
  }
  expect([sites.read(RECEIVER, get('k')), receiver?.rejections.room]).toEqual([undefined, 1]);
  sites.pass(100);
  expect([sites.read(RECEIVER, get('k')), receiver?.rejections.room]).toEqual([1, 1]);
});
