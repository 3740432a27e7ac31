/**
 * Proposals of a site from before its restart: the red log takes none of them after the first of
 * the new epoch.
 */
import { describe, expect, test } from 'vitest';
import { SequencedLog } from '../../../../../src/server/log/sequenced/sequenced-log.ts';
import { createEpoch, MAX_START } from '../../../../../src/server/log/epoch.ts';
import { siteAt, sitesTo } from '../../../../support/origins.ts';

const [LEADER, SITE] = [siteAt(0), siteAt(1)];

/** Syncs what the log stores, and gives what it delivers. */
function deliveredBy(log: SequencedLog<string>): string[] {
  const stored = log
    .takeOutputs()
    .flatMap((output) => (output.kind === 'store' ? output.entries : []));
  log.onSynced(stored.length);
  return log.takeOutputs().flatMap((output) => (output.kind === 'deliver' ? output.records : []));
}

test('leader: proposals of epoch 1 after one of epoch 2 → ignored, and epoch 2 goes on', () => {
  const leader = new SequencedLog<string>({
    site: LEADER,
    sites: sitesTo(1),
    leader: LEADER,
    epoch: 1,
    entries: [],
    resendAfterMs: 10,
  });
  const propose = (epoch: number, sequence: number, record: string): void =>
    leader.receive(SITE, { kind: 'log.propose', epoch, sequence, record }, 0);
  propose(1, 1, 'before');
  propose(2, 1, 'after');
  propose(1, 1, 'before, again');
  propose(1, 2, 'before, late');
  propose(2, 2, 'next');
  expect(deliveredBy(leader)).toEqual(['before', 'after', 'next']);
});

/** A site that has lost the file with its last number, and so begins with one that it has had. */
const FOLLOWER = { site: SITE, sites: sitesTo(3), leader: LEADER, resendAfterMs: 10 };
const proposedBy = (
  log: SequencedLog<string>,
): (readonly [epoch: number, sequence: number, record: string])[] =>
  log.takeOutputs().flatMap((output) => {
    if (output.kind !== 'send' || output.message.kind !== 'log.propose') return [];
    const { epoch, sequence, record } = output.message;
    return [[epoch, sequence, record] as const];
  });

test('a start with a number that its log shows it has had → above that, and no two starts alike', () => {
  const had = createEpoch(6, 0.5);
  const entries = [{ origin: SITE, epoch: had, sequence: 1, record: 'before' }];
  const saved = {
    delivered: 1,
    position: { seq: 1, index: 0 },
    progress: [[SITE, had, 2]] as const,
  };
  for (const known of [{ entries }, { saved, start: 1 }]) {
    const begun = (number: number, chance: number): unknown => {
      const log = new SequencedLog<string>({
        ...FOLLOWER,
        epoch: createEpoch(number, chance),
        ...known,
      });
      log.propose('a', 0);
      return proposedBy(log);
    };
    expect(begun(5, 0.25)).toEqual([[createEpoch(7, 0.25), 1, 'a']]);
    expect(begun(5, 0.75)).toEqual([[createEpoch(7, 0.75), 1, 'a']]);
    expect(begun(6, 0.25)).toEqual([[createEpoch(7, 0.25), 1, 'a']]);
    expect(begun(6, 0.75)).toEqual([[createEpoch(6, 0.75), 1, 'a']]);
  }
});

test('proposes again with a higher start number if the leader knows a start number above its own', () => {
  const log = new SequencedLog<string>({ ...FOLLOWER, epoch: createEpoch(5, 0.25) });
  log.propose('a', 0);
  log.propose('b', 0);
  expect(proposedBy(log)).toEqual([
    [createEpoch(5, 0.25), 1, 'a'],
    [createEpoch(5, 0.25), 2, 'b'],
  ]);
  const before = { origin: SITE, epoch: createEpoch(6, 0.5), sequence: 1, record: 'before' };
  log.receive(LEADER, { kind: 'log.append', position: 0, entries: [before], committed: 0 }, 0);
  expect(proposedBy(log)).toEqual([
    [createEpoch(7, 0.25), 1, 'a'],
    [createEpoch(7, 0.25), 2, 'b'],
  ]);
});

test('does not propose a record again if it was delivered before a late proposal of an earlier start', () => {
  const log = new SequencedLog<string>({ ...FOLLOWER, epoch: createEpoch(6, 0.25) });
  for (const record of ['a', 'b', 'c']) log.propose(record, 0);
  log.takeOutputs();
  const own = { origin: SITE, epoch: createEpoch(6, 0.25), sequence: 1, record: 'a' };
  const late = { origin: SITE, epoch: createEpoch(6, 0.5), sequence: 1, record: 'before' };
  log.receive(LEADER, { kind: 'log.append', position: 0, entries: [own, late], committed: 0 }, 0);
  expect(proposedBy(log)).toEqual([
    [createEpoch(7, 0.25), 1, 'b'],
    [createEpoch(7, 0.25), 2, 'c'],
  ]);
});

test('a late proposal of an earlier start, with a number that this one has used → does not stand for it', () => {
  const log = new SequencedLog<string>({ ...FOLLOWER, epoch: createEpoch(6, 0.5) });
  log.propose('a', 0);
  log.takeOutputs();
  const late = { origin: SITE, epoch: createEpoch(5, 0.5), sequence: 1, record: 'before' };
  log.receive(LEADER, { kind: 'log.append', position: 0, entries: [late], committed: 0 }, 0);
  for (const nowMs of [0, 10]) log.tick(nowMs);
  log.receive(LEADER, { kind: 'log.checked', epoch: createEpoch(6, 0.5), next: 1, probe: 1 }, 10);
  expect(proposedBy(log)).toEqual([[createEpoch(6, 0.5), 1, 'a']]);
});

describe('an entry of this site with the highest possible start number', () => {
  const last = { origin: SITE, epoch: MAX_START, sequence: 1, record: 'of no start' };
  const before = { origin: LEADER, epoch: 5, sequence: 1, record: 'before' };

  test('if the leader sends it, the site reports it, takes nothing of that message and proposes nothing', () => {
    const log = new SequencedLog<string>({ ...FOLLOWER, epoch: createEpoch(5, 0.25) });
    log.propose('a', 0);
    log.takeOutputs();
    log.receive(
      LEADER,
      { kind: 'log.append', position: 0, entries: [before, last], committed: 0 },
      0,
    );
    const message = `it has an entry of start ${MAX_START} of this site, above which nothing can be proposed`;
    expect([log.takeOutputs(), log.length]).toEqual([[{ kind: 'regressed', message }], 0]);
  });

  test('comes after one of the largest that can begin above another → so does that one, which is its own', () => {
    const largest = MAX_START - 2 ** 20;
    const log = new SequencedLog<string>({ ...FOLLOWER, epoch: createEpoch(5, 0) });
    const first = { ...last, epoch: largest };
    log.receive(LEADER, { kind: 'log.append', position: 0, entries: [first], committed: 0 }, 0);
    log.propose('a', 0);
    expect(proposedBy(log)).toEqual([[MAX_START, 1, 'a']]);
    log.receive(
      LEADER,
      { kind: 'log.append', position: 1, entries: [{ ...last, record: 'a' }], committed: 0 },
      0,
    );
    expect(log.takeOutputs().map(({ kind }) => kind)).toEqual(['store']);
  });

  test('if the site has it when it starts, the site delivers its entries and then reports it', () => {
    for (const known of [
      { entries: [before, last] },
      {
        entries: [before],
        saved: {
          delivered: 0,
          position: { seq: 0, index: 0 },
          progress: [[SITE, MAX_START, 2]] as const,
        },
      },
    ]) {
      const log = new SequencedLog<string>({ ...FOLLOWER, epoch: createEpoch(5, 0.25), ...known });
      expect(log.takeOutputs().map(({ kind }) => kind)).toEqual(['deliver', 'regressed']);
    }
  });
});

test('its own entry → taken for what it is', () => {
  const log = new SequencedLog<string>({ ...FOLLOWER, epoch: 6 });
  log.propose('a', 0);
  log.takeOutputs();
  const own = { origin: SITE, epoch: 6, sequence: 1, record: 'a' };
  log.receive(LEADER, { kind: 'log.append', position: 0, entries: [own], committed: 0 }, 0);
  log.propose('b', 0);
  expect(proposedBy(log)).toEqual([[6, 2, 'b']]);
});
