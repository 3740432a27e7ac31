/**
 * The sites of the red log change with its records: who counts for a majority, and who is sent the
 * log.
 */
import { expect, test } from 'vitest';
import { SequencedLog } from '../../../../../src/server/log/sequenced/sequenced-log.ts';
import type { Origin } from '../../../../../src/server/service/records/origin.ts';
import { siteAt, sitesTo } from '../../../../support/origins.ts';

const CLOSE_SECOND = 'close the second';
const CHANGE = 'change';

const createLeader = (siteCount: number): SequencedLog<string> =>
  createLog({ site: siteAt(0), siteCount });

function createLog({ site, siteCount }: { site: Origin; siteCount: number }): SequencedLog<string> {
  return new SequencedLog<string>({
    site,
    sites: sitesTo(siteCount),
    leader: siteAt(0),
    epoch: 1,
    resendAfterMs: 10,
    getMemberChange: (record) =>
      record === CHANGE
        ? { closes: [] }
        : record === CLOSE_SECOND
          ? { closes: [siteAt(1)] }
          : undefined,
  });
}

function propose(log: SequencedLog<string>, ...records: string[]): void {
  for (const record of records) log.propose(record, 0);
  log.onSynced(log.length);
}

const takeDelivered = (log: SequencedLog<string>): string[] =>
  log.takeOutputs().flatMap((output) => (output.kind === 'deliver' ? [...output.records] : []));

test('nothing behind a record that may change the sites is delivered before they are set', () => {
  const log = createLeader(1);
  propose(log, 'a', CHANGE, 'b', CHANGE, 'c');
  expect(takeDelivered(log)).toEqual(['a', CHANGE]);
  log.setMembers({ sites: sitesTo(1), voters: sitesTo(1) });
  expect(takeDelivered(log)).toEqual(['b', CHANGE]);
  log.setMembers({ sites: sitesTo(2), voters: sitesTo(2) });
  expect(takeDelivered(log)).toEqual([]);
  log.receive(siteAt(1), { kind: 'log.appended', length: 5, committed: 4 }, 0);
  expect(takeDelivered(log)).toEqual(['c']);
});

test('what takes one of two sites out is committed by the other one, with all before it and nothing behind it', () => {
  const log = createLeader(2);
  propose(log, 'a', CLOSE_SECOND, 'b');
  expect(takeDelivered(log)).toEqual(['a', CLOSE_SECOND]);
  log.setMembers({ sites: sitesTo(1), voters: sitesTo(1) });
  expect(takeDelivered(log)).toEqual(['b']);
});

test('what takes one of two sites out commits a change that stands before it', () => {
  const log = createLeader(2);
  propose(log, CHANGE, CLOSE_SECOND);
  expect(takeDelivered(log)).toEqual([CHANGE]);
  log.setMembers({ sites: sitesTo(2), voters: sitesTo(2) });
  expect(takeDelivered(log)).toEqual([CLOSE_SECOND]);
});

test('what takes one of three sites out waits for the other two, whatever the one that leaves has', () => {
  const log = createLeader(3);
  propose(log, 'a', CLOSE_SECOND);
  log.receive(siteAt(1), { kind: 'log.appended', length: 2, committed: 0 }, 0);
  expect(takeDelivered(log)).toEqual(['a']);
  log.receive(siteAt(2), { kind: 'log.appended', length: 2, committed: 0 }, 0);
  expect(takeDelivered(log)).toEqual([CLOSE_SECOND]);
});

test('the site that leaves does not count itself for its own removal', () => {
  const log = createLog({ site: siteAt(1), siteCount: 3 });
  const entries = ['a', CLOSE_SECOND].map((record, index) => ({
    origin: siteAt(0),
    epoch: 1,
    sequence: index + 1,
    record,
  }));
  log.receive(siteAt(0), { kind: 'log.append', position: 0, entries, committed: 0 }, 0);
  log.onSynced(2);
  expect(takeDelivered(log)).toEqual(['a']);
  log.receive(siteAt(0), { kind: 'log.append', position: 2, entries: [], committed: 2 }, 0);
  expect(takeDelivered(log)).toEqual([CLOSE_SECOND]);
});

test('a site without a vote is sent the log and does not count', () => {
  const log = createLeader(2);
  log.setMembers({ sites: sitesTo(3), voters: sitesTo(2) });
  propose(log, 'a');
  log.receive(siteAt(2), { kind: 'log.appended', length: 1, committed: 0 }, 0);
  expect(takeDelivered(log)).toEqual([]);
  log.receive(siteAt(1), { kind: 'log.appended', length: 1, committed: 0 }, 0);
  const outputs = log.takeOutputs();
  expect(outputs).toContainEqual(expect.objectContaining({ kind: 'deliver', records: ['a'] }));
  // It cannot tell by itself what a majority has.
  const announced = { kind: 'log.append', position: 1, entries: [], committed: 1 };
  expect(outputs).toContainEqual({
    kind: 'send',
    to: siteAt(2),
    message: expect.objectContaining(announced),
  });
});

test('a follower without a vote delivers what the leader reports as held by a majority', () => {
  const log = new SequencedLog<string>({
    site: siteAt(2),
    sites: sitesTo(3),
    voters: sitesTo(2),
    leader: siteAt(0),
    epoch: 1,
    resendAfterMs: 10,
  });
  const entries = [{ origin: siteAt(0), epoch: 1, sequence: 1, record: 'a' }];
  log.receive(siteAt(0), { kind: 'log.append', position: 0, entries, committed: 0 }, 0);
  log.onSynced(1);
  expect(takeDelivered(log)).toEqual([]);
  log.receive(siteAt(0), { kind: 'log.append', position: 1, entries: [], committed: 1 }, 0);
  expect(takeDelivered(log)).toEqual(['a']);
});

test('a site that has not delivered the record of its vote learns the committed length when it asks again', () => {
  const log = createLeader(3);
  propose(log, CHANGE, 'a');
  for (const site of [siteAt(1), siteAt(2)])
    log.receive(site, { kind: 'log.appended', length: 2, committed: 0 }, 0);
  log.setMembers({ sites: sitesTo(3), voters: sitesTo(3) });
  log.takeOutputs();
  // After a restart it knows its log, and not that any of it counts.
  log.receive(siteAt(2), { kind: 'log.appended', length: 2, committed: 0 }, 0);
  const append = { kind: 'log.append', position: 2, entries: [], committed: 2 };
  expect(log.takeOutputs()).toContainEqual({
    kind: 'send',
    to: siteAt(2),
    message: expect.objectContaining(append),
  });
  log.receive(siteAt(2), { kind: 'log.appended', length: 2, committed: 2 }, 0);
  expect(log.takeOutputs()).toEqual([]);
});

test('a voter whose leader has no vote does not take what both have for a majority of three', () => {
  const log = new SequencedLog<string>({
    site: siteAt(1),
    sites: sitesTo(4),
    voters: sitesTo(4).slice(1),
    leader: siteAt(0),
    epoch: 1,
    resendAfterMs: 10,
  });
  const entries = [{ origin: siteAt(0), epoch: 1, sequence: 1, record: 'a' }];
  log.receive(siteAt(0), { kind: 'log.append', position: 0, entries, committed: 0 }, 0);
  log.onSynced(1);
  expect(takeDelivered(log)).toEqual([]);
  log.receive(siteAt(0), { kind: 'log.append', position: 1, entries: [], committed: 1 }, 0);
  expect(takeDelivered(log)).toEqual(['a']);
});
