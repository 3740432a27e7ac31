/** Proposals of a site from before its restart: the red log takes none of them after the first of the new epoch. */
import { expect, test } from 'vitest';
import { SequencedLog } from '../../../src/server/log/sequenced-log.ts';

/** Syncs what the log stores, and gives what it delivers. */
function deliveredBy(log: SequencedLog<string>): string[] {
  const stored = log.takeOutputs().flatMap((output) => (output.kind === 'store' ? output.entries : []));
  log.onSynced(stored.length);
  return log.takeOutputs().flatMap((output) => (output.kind === 'deliver' ? output.records : []));
}

test('leader: proposals of epoch 1 after one of epoch 2 → ignored, and epoch 2 goes on', () => {
  const leader = new SequencedLog<string>({
    site: 0,
    siteCount: 1,
    leader: 0,
    epoch: 1,
    entries: [],
    resendAfterMs: 10,
  });
  const propose = (epoch: number, sequence: number, record: string): void =>
    leader.receive(1, { kind: 'log.propose', epoch, sequence, record }, 0);
  propose(1, 1, 'before');
  propose(2, 1, 'after');
  propose(1, 1, 'before, again');
  propose(1, 2, 'before, late');
  propose(2, 2, 'next');
  expect(deliveredBy(leader)).toEqual(['before', 'after', 'next']);
});

/** A site that has lost the file with its last number, and so begins with one that it has had. */
const STEP = 2 ** 20;
const FOLLOWER = { site: 1, siteCount: 3, leader: 0, resendAfterMs: 10 };
const proposedBy = (log: SequencedLog<string>): (readonly [epoch: number, sequence: number, record: string])[] =>
  log.takeOutputs().flatMap((output) => {
    if (output.kind !== 'send' || output.message.kind !== 'log.propose') return [];
    const { epoch, sequence, record } = output.message;
    return [[epoch, sequence, record] as const];
  });

test('a start with a number that its log shows it has had → above that', () => {
  const entries = [{ origin: 1, epoch: 6, sequence: 1, record: 'before' }];
  for (const known of [{ entries }, { saved: { delivered: 1, progress: [[1, 6, 2]] as const }, start: 1 }]) {
    for (const epoch of [5, 6]) {
      const log = new SequencedLog<string>({ ...FOLLOWER, epoch, ...known });
      log.propose('a', 0);
      expect(proposedBy(log)).toEqual([[6 + STEP, 1, 'a']]);
    }
  }
});

test('a start with a number below one that the leader knows → proposes anew, once it hears of that', () => {
  const log = new SequencedLog<string>({ ...FOLLOWER, epoch: 5 });
  log.propose('a', 0);
  log.propose('b', 0);
  expect(proposedBy(log)).toEqual([
    [5, 1, 'a'],
    [5, 2, 'b'],
  ]);
  const before = { origin: 1, epoch: 6, sequence: 1, record: 'before' };
  log.receive(0, { kind: 'log.append', position: 0, entries: [before], committed: 0 }, 0);
  expect(proposedBy(log)).toEqual([
    [6 + STEP, 1, 'a'],
    [6 + STEP, 2, 'b'],
  ]);
});

test.each([
  ['that it has not come to', 3, ['a', 'b']],
  ['of another record', 1, ['a', 'b']],
])('a start with a number that it has had, an entry of that number %s → proposes anew', (_, sequence, records) => {
  const log = new SequencedLog<string>({ ...FOLLOWER, epoch: 6, nameOf: (record) => record });
  for (const record of records) log.propose(record, 0);
  log.takeOutputs();
  const before = { origin: 1, epoch: 6, sequence, record: 'before' };
  log.receive(0, { kind: 'log.append', position: 0, entries: [before], committed: 0 }, 0);
  expect(proposedBy(log)).toEqual(records.map((record, at) => [6 + STEP, at + 1, record]));
});

test('its own entry → taken for what it is', () => {
  const log = new SequencedLog<string>({ ...FOLLOWER, epoch: 6, nameOf: (record) => record });
  log.propose('a', 0);
  log.takeOutputs();
  const own = { origin: 1, epoch: 6, sequence: 1, record: 'a' };
  log.receive(0, { kind: 'log.append', position: 0, entries: [own], committed: 0 }, 0);
  log.propose('b', 0);
  expect(proposedBy(log)).toEqual([[6, 2, 'b']]);
});
