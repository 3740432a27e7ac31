/** What the transport learns about each message from the message format of the sequenced log. */
import { expect, test } from 'vitest';
import { SEQUENCED_MESSAGE_FORMAT } from '../../../../../src/server/log/sequenced/sequenced-messages.ts';
import type { SequencedMessage } from '../../../../../src/server/log/sequenced/sequenced-messages.ts';
import type { RedRecord } from '../../../../../src/server/service/records/records.ts';
import { siteAt } from '../../../../support/origins.ts';

const [FROM, SITE] = [siteAt(0), siteAt(1)];
const markerOf = (sequence: number): RedRecord => ({
  kind: 'marker',
  id: `h-0-1/${sequence}`,
  site: SITE,
});
const [FIRST, SECOND, THIRD] = [markerOf(1), markerOf(2), markerOf(3)];
const entries = [FIRST, SECOND, THIRD].map((record, index) => ({
  origin: SITE,
  epoch: 1,
  sequence: index + 1,
  record,
}));

const PROPOSAL: SequencedMessage<RedRecord> = {
  kind: 'log.propose',
  epoch: 1,
  sequence: 1,
  record: FIRST,
};
const APPEND: SequencedMessage<RedRecord> = {
  kind: 'log.append',
  position: 7,
  entries,
  committed: 5,
};
const NEWS: SequencedMessage<RedRecord> = {
  kind: 'log.append',
  position: 7,
  entries: [],
  committed: 7,
};
const ANSWER: SequencedMessage<RedRecord> = { kind: 'log.appended', length: 3, committed: 3 };

test('the records of a message → the proposal of its sender, or entries with their proposers', () => {
  const getProposedRecords = (message: SequencedMessage<RedRecord>): unknown =>
    SEQUENCED_MESSAGE_FORMAT.getProposedRecords(message, FROM).map(({ origin, record }) => [
      origin,
      record,
    ]);
  expect([PROPOSAL, APPEND, NEWS, ANSWER].map(getProposedRecords)).toEqual([
    [[FROM, FIRST]],
    [
      [SITE, FIRST],
      [SITE, SECOND],
      [SITE, THIRD],
    ],
    [],
    [],
  ]);
});

test('only messages with records need room; messages about progress are taken without room', () => {
  const single = { ...APPEND, entries: entries.slice(0, 1) };
  const all = [PROPOSAL, APPEND, single, NEWS, ANSWER];
  expect(all.map((message) => SEQUENCED_MESSAGE_FORMAT.needsRoom(message))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

test('a message in two → entries are divided, each half with its place; what has no parts is not', () => {
  expect(SEQUENCED_MESSAGE_FORMAT.split(APPEND)).toEqual([
    { kind: 'log.append', position: 7, entries: entries.slice(0, 1), committed: 5 },
    { kind: 'log.append', position: 8, entries: entries.slice(1), committed: 5 },
  ]);
  expect(
    [PROPOSAL, NEWS, ANSWER, { ...APPEND, entries: entries.slice(0, 1) }].map((item) =>
      SEQUENCED_MESSAGE_FORMAT.split(item),
    ),
  ).toEqual([undefined, undefined, undefined, undefined]);
});
