/**
 * The red log, message by message: who sends what to whom, and what loss, repetition and restarts
 * do.
 */
// @rule RB-L1, RB-L2, RB-L3, RB-L6
import { describe, expect, test } from 'vitest';
import type { LogEntry, SavedLog } from '../../../../../src/server/log/red-log.ts';
import { createPrefixDigest, PrefixDigest } from '../../../../../src/server/log/prefix-digest.ts';
import { RedLogConsumer } from '../../../../../src/server/log/red-log-consumer.ts';
import { SequencedLog } from '../../../../../src/server/log/sequenced/sequenced-log.ts';
import type { SequencedMessage } from '../../../../../src/server/log/sequenced/sequenced-messages.ts';
import { DEFAULT_SEND_WINDOWS } from '../../../../../src/server/log/send-windows.ts';
import { getSiteIndex, siteAt, sitesTo } from '../../../../support/origins.ts';

const RESEND_AFTER_MS = 10;
const [LEADER, FOLLOWER] = [siteAt(0), siteAt(1)];
type Sent = {
  readonly from: number;
  readonly to: number;
  readonly message: SequencedMessage<string>;
};

/** Nodes whose disks sync, and whose messages arrive, only when the test triggers it. */
class Cluster {
  readonly nodes: SequencedLog<string>[];
  readonly disks: LogEntry<string>[][];
  readonly delivered: string[][];
  readonly sent: Sent[] = [];
  readonly trace: string[] = [];
  readonly #createDigest: typeof createPrefixDigest;

  constructor(siteCount: number, createDigest = createPrefixDigest) {
    this.#createDigest = createDigest;
    this.disks = Array.from({ length: siteCount }, () => []);
    this.delivered = Array.from({ length: siteCount }, () => []);
    this.nodes = Array.from({ length: siteCount }, (_, site) => this.make(site, 1));
  }

  make(site: number, epoch: number): SequencedLog<string> {
    const entries = [...(this.disks[site] ?? [])];
    const place = { site: siteAt(site), sites: sitesTo(this.disks.length), leader: LEADER };
    const createDigest = this.#createDigest;
    return new SequencedLog({
      ...place,
      epoch,
      entries,
      createDigest,
      resendAfterMs: RESEND_AFTER_MS,
    });
  }

  restart(site: number, epoch: number): void {
    this.delivered[site] = [];
    this.nodes[site] = this.make(site, epoch);
    this.act(site);
  }

  propose(site: number, record: string): void {
    this.nodes[site]?.propose(record, 0);
    this.act(site);
  }

  tick(nowMs: number): void {
    for (const [site, node] of this.nodes.entries()) {
      node.tick(nowMs);
      this.act(site);
    }
  }

  /** Delivers what is under way and what follows from it, except what `lose` picks. */
  run(lose: (sent: Sent) => boolean = () => false): void {
    for (let next = this.sent.shift(); next !== undefined; next = this.sent.shift()) {
      if (lose(next)) continue;
      this.nodes[next.to]?.receive(siteAt(next.from), next.message, 0);
      this.act(next.to);
    }
  }

  act(site: number): void {
    const node = this.nodes[site] as SequencedLog<string>;
    for (let outputs = node.takeOutputs(); outputs.length > 0; outputs = node.takeOutputs()) {
      for (const output of outputs) {
        if (output.kind === 'send') {
          const to = getSiteIndex(output.to);
          this.sent.push({ from: site, to, message: output.message });
          this.trace.push(`${site}>${to} ${output.message.kind}`);
        } else if (output.kind === 'deliver') this.delivered[site]?.push(...output.records);
        else if (output.kind === 'store') this.disks[site]?.push(...output.entries);
      }
      node.onSynced(this.disks[site]?.length ?? 0);
    }
  }
}

describe('sequenced log: restart', () => {
  const entries = ['a', 'b', 'c', 'd'].map((record, index) => ({
    origin: FOLLOWER,
    epoch: 1,
    sequence: index + 1,
    record,
  }));
  const follower = {
    site: FOLLOWER,
    sites: sitesTo(5),
    leader: LEADER,
    epoch: 2,
    resendAfterMs: RESEND_AFTER_MS,
  };
  const deliveredBy = (node: SequencedLog<string>): string[] =>
    node.takeOutputs().flatMap((output) => (output.kind === 'deliver' ? output.records : []));

  test('five sites, nothing known → nothing is delivered before the leader is heard', () => {
    expect(deliveredBy(new SequencedLog({ ...follower, entries }))).toEqual([]);
  });

  test('five sites, three known to be committed → delivered at once, without the leader', () => {
    expect(deliveredBy(new SequencedLog({ ...follower, entries, committed: 3 }))).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  test('saved after two → those are not delivered again, the log goes on in its place', () => {
    const first = new SequencedLog({ ...follower, entries, committed: 2 });
    expect(deliveredBy(first)).toEqual(['a', 'b']);
    const saved = first.save();
    const second = new SequencedLog({
      ...follower,
      epoch: 3,
      entries: entries.slice(2),
      start: 2,
      saved,
    });
    expect(deliveredBy(second)).toEqual([]);
    second.receive(LEADER, { kind: 'log.append', position: 4, entries: [], committed: 4 }, 0);
    expect(deliveredBy(second)).toEqual(['c', 'd']);
  });

  test('saved again before anything else is delivered → as it was saved', () => {
    const saved = new SequencedLog({ ...follower, entries, committed: 4 }).save();
    const again = new SequencedLog<string>({ ...follower, epoch: 3, entries: [], start: 4, saved });
    expect(again.save()).toEqual(saved);
    expect(saved.progress).toEqual([[FOLLOWER, 1, 5]]);
  });

  test('leader, saved after proposals → one that comes again is not taken again, the next one is', () => {
    const leader = { ...follower, site: LEADER, sites: sitesTo(1) };
    const first = new SequencedLog({ ...leader, entries });
    const second = new SequencedLog<string>({
      ...leader,
      epoch: 3,
      entries: [],
      start: 4,
      saved: first.save(),
    });
    second.receive(FOLLOWER, { kind: 'log.propose', epoch: 1, sequence: 4, record: 'd' }, 0);
    second.receive(FOLLOWER, { kind: 'log.propose', epoch: 1, sequence: 5, record: 'e' }, 0);
    second.onSynced(5);
    expect(deliveredBy(second)).toEqual(['e']);
  });
});

test('after a leader restarts without its first entries, a late message of a follower puts no record in a wrong place', () => {
  const entries = ['c', 'd'].map((record, index) => ({
    origin: LEADER,
    epoch: 1,
    sequence: index + 3,
    record,
  }));
  const saved = {
    delivered: 4,
    position: { seq: 4, index: 0 },
    progress: [[LEADER, 1, 5]] as const,
  };
  const options = {
    site: LEADER,
    sites: sitesTo(3),
    leader: LEADER,
    epoch: 2,
    resendAfterMs: RESEND_AFTER_MS,
  };
  const leader = new SequencedLog<string>({ ...options, entries, start: 2, saved });
  leader.receive(FOLLOWER, { kind: 'log.appended', length: 1, committed: 1 }, 0);
  leader.tick(0);
  leader.tick(RESEND_AFTER_MS);
  leader.receive(FOLLOWER, { kind: 'log.appended', length: 3, committed: 3 }, 0);
  leader.tick(2 * RESEND_AFTER_MS);
  const sent = leader
    .takeOutputs()
    .flatMap((output) =>
      output.kind === 'send' && output.message.kind === 'log.append' ? [output.message] : [],
    );
  const reported = sent.flatMap(({ position, entries: news }) =>
    news.map(({ record }, at) => [position + at, record]),
  );
  expect(new Set(reported.map(String))).toEqual(new Set(['3,d']));
});

describe('sequenced log', () => {
  test('a proposal to one that does not lead, entries from one that does not → nothing is written', () => {
    const node = (site: number): SequencedLog<string> => new Cluster(3).make(site, 1);
    const proposal: SequencedMessage<string> = {
      kind: 'log.propose',
      epoch: 1,
      sequence: 1,
      record: 'a',
    };
    const entries = [{ origin: siteAt(1), epoch: 1, sequence: 1, record: 'a' }];
    const append: SequencedMessage<string> = {
      kind: 'log.append',
      position: 0,
      entries,
      committed: 1,
    };
    for (const [to, from, message] of [
      [2, 1, proposal],
      [2, 1, append],
      [0, 1, append],
    ] as const) {
      const log = node(to);
      log.receive(siteAt(from), message, 0);
      expect([log.length, log.takeOutputs()]).toEqual([0, []]);
    }
  });

  test('proposal of a follower: one round trip to the leader → delivered there', () => {
    const cluster = new Cluster(3);
    cluster.propose(2, 'a');
    expect(cluster.trace).toEqual(['2>0 log.propose']);
    cluster.run(({ to }) => to === 1);
    expect(cluster.trace).toEqual([
      '2>0 log.propose',
      '0>1 log.append',
      '0>2 log.append',
      '2>0 log.appended',
    ]);
    expect(cluster.delivered).toEqual([['a'], [], ['a']]);
  });

  test('leader alone: no majority → nothing is delivered', () => {
    const cluster = new Cluster(3);
    cluster.propose(0, 'a');
    cluster.run(() => true);
    expect(cluster.delivered).toEqual([[], [], []]);
    cluster.tick(RESEND_AFTER_MS);
    cluster.run();
    cluster.tick(2 * RESEND_AFTER_MS);
    cluster.run();
    expect(cluster.delivered).toEqual([['a'], ['a'], ['a']]);
  });

  test.each([4, 5])('%i sites: a follower waits until it knows of a majority', (siteCount) => {
    const cluster = new Cluster(siteCount);
    cluster.propose(0, 'a');
    cluster.run(({ to }) => to > 1);
    expect(cluster.delivered[1]).toEqual([]);
    for (let round = 1; round < 5; round += 1) {
      cluster.tick(round * RESEND_AFTER_MS);
      cluster.run();
    }
    expect(cluster.delivered).toEqual(Array.from({ length: siteCount }, () => ['a']));
  });

  test.each([3, 5])('%i sites: once all know everything, nothing is sent any more', (siteCount) => {
    const cluster = new Cluster(siteCount);
    for (const site of [0, 1]) cluster.propose(site, `${site}`);
    for (let round = 1; round < 5; round += 1) {
      cluster.run();
      cluster.tick(round * RESEND_AFTER_MS);
    }
    cluster.run();
    const { length } = cluster.trace;
    expect(length).toBeGreaterThan(siteCount);
    for (let round = 5; round < 10; round += 1) cluster.tick(round * RESEND_AFTER_MS);
    expect(cluster.trace.slice(length)).toEqual([]);
  });

  test('a node rejects entries that begin after its last one, and reports how many it has', () => {
    const node = new SequencedLog<string>({
      site: FOLLOWER,
      sites: sitesTo(3),
      leader: LEADER,
      epoch: 1,
      resendAfterMs: RESEND_AFTER_MS,
    });
    const entries = [{ origin: LEADER, epoch: 1, sequence: 4, record: 'd' }];
    node.receive(LEADER, { kind: 'log.append', position: 3, entries, committed: 4 }, 0);
    expect(node.takeOutputs()).toEqual([
      { kind: 'send', to: LEADER, message: { kind: 'log.appended', length: 0, committed: 4 } },
    ]);
  });

  test('more than a window, to a site that answers → all of it, without a reminder', () => {
    const cluster = new Cluster(3);
    const records = Array.from({ length: 3 * DEFAULT_SEND_WINDOWS.maxAppended }, (_, n) => `${n}`);
    for (const record of records) cluster.propose(0, record);
    cluster.run();
    expect(cluster.delivered[1]).toEqual(records);
  });

  test('five sites: the others are a majority → a follower delivers once it has synced it too', () => {
    const node = new SequencedLog<string>({
      site: FOLLOWER,
      sites: sitesTo(5),
      leader: LEADER,
      epoch: 1,
      resendAfterMs: RESEND_AFTER_MS,
    });
    const kinds = (): string[] => node.takeOutputs().map(({ kind }) => kind);
    const entries = [{ origin: LEADER, epoch: 1, sequence: 1, record: 'a' }];
    node.receive(LEADER, { kind: 'log.append', position: 0, entries, committed: 1 }, 0);
    expect(kinds()).not.toContain('deliver');
    node.onSynced(1);
    expect(kinds()).toContain('deliver');
  });

  test('five sites: old answers of a follower get one announcement, and another one after the resend time', () => {
    const [leader] = new Cluster(5).nodes as [SequencedLog<string>];
    leader.propose('a', 0);
    leader.onSynced(1);
    for (const site of [FOLLOWER, siteAt(2)])
      leader.receive(site, { kind: 'log.appended', length: 1, committed: 0 }, 0);
    leader.takeOutputs();
    const countAnnouncements = (nowMs: number): number => {
      for (let copy = 0; copy < 10; copy += 1)
        leader.receive(FOLLOWER, { kind: 'log.appended', length: 1, committed: 0 }, nowMs);
      return leader.takeOutputs().filter(({ kind }) => kind === 'send').length;
    };
    expect(countAnnouncements(1)).toBe(1);
    expect(countAnnouncements(2)).toBe(0);
    expect(countAnnouncements(1 + RESEND_AFTER_MS)).toBe(1);
  });

  test('the leader keeps a delivered entry until each follower has confirmed that it has it', () => {
    const cluster = new Cluster(3);
    const [leader] = cluster.nodes;
    cluster.propose(0, 'a');
    cluster.run(({ from, to }) => from === 2 || to === 2);
    expect([cluster.delivered[0], leader?.retainedFrom, leader?.backlogLength]).toEqual([
      ['a'],
      0,
      1,
    ]);
    for (const times of [1, 2]) {
      cluster.tick(times * RESEND_AFTER_MS);
      cluster.run();
    }
    expect([cluster.delivered[2], leader?.retainedFrom, leader?.backlogLength]).toEqual([
      ['a'],
      1,
      0,
    ]);
  });
});

describe('digest', () => {
  /** A node alone that had delivered two entries. */
  const node = (
    records: readonly string[],
    saved?: SavedLog,
    origin = LEADER,
  ): SequencedLog<string> => {
    const entries = records.map((record, index) => ({
      origin,
      epoch: 1,
      sequence: index + 1,
      record,
    }));
    const before = { delivered: 2, position: { seq: 2, index: 0 }, progress: [], digest: 7 };
    const place = { site: LEADER, sites: sitesTo(1), leader: LEADER };
    return new SequencedLog({
      ...place,
      epoch: 2,
      start: 2,
      entries,
      saved: saved ?? before,
      resendAfterMs: 10,
    });
  };

  test('the same entries → the same digest; other ones → another', () => {
    const { digest } = node(['c', 'd']).save();
    expect(digest).toBeTypeOf('number');
    expect(node(['c', 'd']).save().digest).toBe(digest);
    expect(node(['c', 'd'], undefined, FOLLOWER).save().digest).not.toBe(digest);
    expect(node(['c', 'd']).digest(1)).toBeUndefined();
  });

  test('started again with what was saved → the same, so that a log with something else there is noticed', () => {
    const saved = node(['c']).save();
    const again = node(['c'], saved);
    expect(again.save()).toMatchObject({ digest: saved.digest });
    expect(new RedLogConsumer(again, saved).halt).toBeUndefined();
    const other = node(['c'], undefined, FOLLOWER);
    expect(new RedLogConsumer(other, saved).halt).toMatchObject({ reason: 'regressed' });
  });
});

describe('sequenced log: followers that pass entries on', () => {
  /**
   * The first follower has delivered three entries, the second one has none, and the leader is
   * lost.
   */
  function createUnequal(createDigest = createPrefixDigest): Cluster {
    const cluster = new Cluster(3, createDigest);
    for (const record of ['a', 'b', 'c']) cluster.propose(1, record);
    cluster.run(({ from, to }) => from === 0 && to === 2);
    return cluster;
  }

  /** The second follower asks twice: at first, entries of the leader may be on their way. */
  function askOthers(cluster: Cluster): void {
    for (const nowMs of [100, 100 + RESEND_AFTER_MS]) {
      cluster.nodes[2]?.catchUp(nowMs);
      cluster.act(2);
    }
  }

  test('entries that another follower has delivered are delivered', () => {
    const cluster = createUnequal();
    askOthers(cluster);
    cluster.run(({ from, to }) => from === 0 || to === 0);
    expect(cluster.delivered[2]).toEqual(['a', 'b', 'c']);
  });

  // A follower takes nothing that it cannot compare.
  test('entries are passed on although the digest had room for fewer places at first', () => {
    const cluster = createUnequal(
      (count, digest) => new PrefixDigest(count, digest, { places: 2 }),
    );
    askOthers(cluster);
    cluster.run(({ from, to }) => from === 0 || to === 0);
    expect(cluster.delivered[2]).toEqual(['a', 'b', 'c']);
  });

  test('at first the leader alone is waited for', () => {
    const cluster = createUnequal();
    cluster.nodes[2]?.catchUp(100);
    cluster.act(2);
    expect(cluster.sent).toEqual([]);
  });

  test('a follower that has the entries, and not that they are committed, learns it', () => {
    const cluster = new Cluster(5);
    cluster.propose(1, 'a');
    cluster.run(
      ({ to, message }) =>
        to === 2 && message.kind === 'log.append' && message.entries.length === 0,
    );
    expect(cluster.delivered[2]).toEqual([]);
    askOthers(cluster);
    cluster.run(({ from, to }) => from === 0 || to === 0);
    expect(cluster.delivered[2]).toEqual(['a']);
  });

  test('entries that do not continue what is here are refused', () => {
    const cluster = createUnequal();
    askOthers(cluster);
    cluster.run(({ from, to }) => from === 0 || to === 0 || (from === 1 && to === 2));
    const [entry] = cluster.disks[1] as [LogEntry<string>];
    const message = { kind: 'log.append', position: 0, entries: [entry], committed: 1 } as const;
    const second = cluster.nodes[2] as SequencedLog<string>;
    second.receive(FOLLOWER, { ...message, digest: 7 }, 0);
    expect(second.takeOutputs()).toMatchObject([{ kind: 'fork', origin: FOLLOWER }]);
    second.receive(FOLLOWER, message, 0);
    second.receive(FOLLOWER, { ...message, committed: 0, digest: 0 }, 0);
    expect(second.takeOutputs()).toEqual([]);
  });

  test('the leader takes no entries from a follower', () => {
    const cluster = createUnequal();
    const entry = { origin: FOLLOWER, epoch: 1, sequence: 4, record: 'x' };
    const leader = cluster.nodes[0] as SequencedLog<string>;
    const digest = leader.digest(3);
    leader.receive(
      FOLLOWER,
      { kind: 'log.append', position: 3, entries: [entry], committed: 4, digest },
      0,
    );
    expect(leader.takeOutputs()).toEqual([]);
  });
});
