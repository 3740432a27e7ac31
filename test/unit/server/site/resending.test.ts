/** What is sent again: what was missing, and hardly more than that. */
// @rule RB-P2
import { describe, expect, test } from 'vitest';
import type { LogEntry } from '../../../../src/server/log/red-log.ts';
import { SequencedLog } from '../../../../src/server/log/sequenced/sequenced-log.ts';
import type { SequencedMessage } from '../../../../src/server/log/sequenced/sequenced-messages.ts';
import { IncomingStream } from '../../../../src/server/site/parts/blue/blue-streams.ts';
import { bank, bankService } from './services.ts';
import { Sites } from './sites.ts';
import { siteAt, sitesTo } from '../../../support/origins.ts';

const SILENT_MS = 1000;
const WINDOW = 10;

describe('an incoming stream', () => {
  const ask = (stream: IncomingStream, nowMs: number): boolean =>
    stream.takeRequest(nowMs, SILENT_MS, WINDOW);

  const take = (stream: IncomingStream, nowMs: number): void => {
    const sequence = stream.received + 1;
    stream.take(
      {
        id: `c/${sequence}`,
        site: siteAt(0),
        sequence,
        vector: [],
        effects: [],
        reply: { value: 1 },
      },
      nowMs,
    );
  };

  test('many messages beyond a gap → it is asked for once', () => {
    const stream = new IncomingStream();
    stream.noteAnnounced(100);
    expect([ask(stream, 0), ask(stream, 1), ask(stream, 999)]).toEqual([true, false, false]);
  });

  test('nothing came → asked for again after a while', () => {
    const stream = new IncomingStream();
    stream.noteAnnounced(100);
    ask(stream, 0);
    expect(ask(stream, SILENT_MS)).toBe(true);
  });

  test('a window of it came, more is lacking → the next window is asked for at once', () => {
    const stream = new IncomingStream();
    stream.noteAnnounced(100);
    ask(stream, 0);
    for (let count = 1; count < WINDOW; count += 1) take(stream, 1);
    expect(ask(stream, 1)).toBe(false);
    take(stream, 1);
    expect(ask(stream, 1)).toBe(true);
  });

  test('nothing is lacking → not asked', () => {
    const stream = new IncomingStream();
    stream.noteAnnounced(1);
    take(stream, 0);
    expect(ask(stream, 5000)).toBe(false);
  });
});

test('an operation received again before it is synced → not confirmed: it is sent again to a site that lost it', () => {
  const sites = new Sites(bankService('blue'), 2);
  sites.submit(0, bank.deposit({ account: 'a', amount: 5 }));
  sites.sync(0);
  const [first] = sites.sent;
  sites.deliver();
  sites.sent.push(first as (typeof sites.sent)[number]);
  while (sites.deliver());
  sites.crash(1);
  sites.start(1);
  sites.pass(100);
  expect(sites.read(1, bank.balance({ account: 'a' }))).toBe(5);
});

test('all sites start again, each with what it had synced → what is red goes on at once, not when it is overdue', () => {
  const sites = new Sites(bankService('red'));
  const done = sites.submit(0, bank.deposit({ account: 'a', amount: 5 }));
  sites.settle();
  // No other site has these: the leader's own entry, and the blue operation that the next red one
  // stands on.
  sites.submit(0, bank.withdraw({ account: 'a', amount: 1 }));
  sites.submit(1, bank.deposit({ account: 'b', amount: 5 }));
  for (const site of [0, 1]) sites.sync(site);
  for (const site of [0, 1, 2]) sites.crash(site);
  sites.sent = [];
  for (const site of [0, 1, 2]) sites.start(site);
  const requested = sites.submit(1, bank.withdraw({ account: 'b', amount: 2 }));
  sites.settle();
  expect([done.value, requested.value]).toEqual([null, { paid: true }]);
  const balances = (account: string) =>
    [0, 1, 2].map((site) => sites.read(site, bank.balance({ account })));
  expect([balances('a'), balances('b')]).toEqual([
    [4, 4, 4],
    [3, 3, 3],
  ]);
});

describe('the red log', () => {
  const windows = { maxAppended: 4, maxProposed: 3 };
  const [LEADER, FOLLOWER] = [siteAt(0), siteAt(1)];
  const make = (site: number): SequencedLog<string> =>
    new SequencedLog({
      site: siteAt(site),
      sites: sitesTo(3),
      leader: LEADER,
      epoch: 1,
      resendAfterMs: SILENT_MS,
      windows,
    });
  const sentBy = (node: SequencedLog<string>): SequencedMessage<string>[] =>
    node.takeOutputs().flatMap((output) => (output.kind === 'send' ? [output.message] : []));
  const records = (messages: readonly SequencedMessage<string>[]): string[] =>
    messages.flatMap((message) => {
      if (message.kind === 'log.propose') return [message.record];
      return message.kind === 'log.append' ? message.entries.map(({ record }) => record) : [];
    });
  const entry = (record: string, sequence: number): LogEntry<string> => ({
    origin: FOLLOWER,
    epoch: 1,
    sequence,
    record,
  });

  const probesIn = (messages: readonly SequencedMessage<string>[]): unknown[] =>
    messages.flatMap((message) =>
      'probe' in message && message.probe !== undefined ? [message.probe] : [],
    );

  test('proposals that the leader does not answer → it is asked, and nothing is sent again meanwhile', () => {
    const node = make(1);
    for (const record of ['a', 'b', 'c', 'd', 'e']) node.propose(record, 0);
    expect(records(sentBy(node))).toEqual(['a', 'b', 'c']);
    node.tick(0);
    for (const atMs of [SILENT_MS, 2 * SILENT_MS, 3 * SILENT_MS]) {
      node.tick(atMs);
      const sent = sentBy(node);
      expect([records(sent), probesIn(sent)]).toEqual([[], [1]]);
    }
    node.receive(
      LEADER,
      { kind: 'log.append', position: 0, entries: [entry('a', 1)], committed: 0 },
      4 * SILENT_MS,
    );
    expect(records(sentBy(node))).toEqual(['d']);
  });

  test('the leader lacks some proposals that were sent before the question → these are sent again, once', () => {
    const node = make(1);
    for (const record of ['a', 'b', 'c']) node.propose(record, 0);
    for (const atMs of [0, SILENT_MS]) node.tick(atMs);
    sentBy(node);
    for (const expected of [['b', 'c'], []]) {
      node.receive(LEADER, { kind: 'log.checked', epoch: 1, next: 2, probe: 1 }, SILENT_MS);
      expect(records(sentBy(node))).toEqual(expected);
    }
  });

  test('a leader that is asked → answers how many proposals of that start it has', () => {
    const leader = make(0);
    const record = 'a';
    leader.receive(FOLLOWER, { kind: 'log.propose', epoch: 1, sequence: 1, record }, 0);
    sentBy(leader);
    for (const epoch of [1, 2])
      leader.receive(FOLLOWER, { kind: 'log.check', epoch, last: 3, probe: epoch }, 0);
    expect(sentBy(leader)).toEqual([
      { kind: 'log.checked', epoch: 1, next: 2, probe: 1 },
      { kind: 'log.checked', epoch: 2, next: 1, probe: 2 },
    ]);
  });

  test('what is beyond the window → can be taken back; what has left cannot', () => {
    const node = make(1);
    for (const record of ['a', 'b', 'c', 'd', 'e']) node.propose(record, 0);
    expect([node.withdraw('a'), node.withdraw('d'), node.withdraw('d')]).toEqual([
      false,
      true,
      false,
    ]);
    const entries = [entry('a', 1), entry('b', 2), entry('c', 3)];
    sentBy(node);
    node.receive(LEADER, { kind: 'log.append', position: 0, entries, committed: 0 }, 0);
    expect(records(sentBy(node))).toEqual(['e']);
  });

  const sentToFollower = (leader: SequencedLog<string>): SequencedMessage<string>[] =>
    leader.takeOutputs().flatMap((output) => {
      return output.kind === 'send' && output.to === FOLLOWER ? [output.message] : [];
    });

  test('a follower that is away → a window is sent, and then it is only asked; back, it gets what it lacks, once', () => {
    const leader = make(0);
    const all = Array.from({ length: 20 }, (_, index) => `r${index}`);
    leader.receive(FOLLOWER, { kind: 'log.appended', length: 0, committed: 0 }, 0);
    for (const [index, record] of all.entries()) {
      leader.propose(record, 0);
      leader.onSynced(index + 1);
    }
    const first = records(sentToFollower(leader));
    expect(first).toEqual(all.slice(0, 4));
    for (let round = 1; round <= 3; round += 1) {
      leader.tick(round * SILENT_MS);
      const sent = sentToFollower(leader);
      expect([records(sent), probesIn(sent)]).toEqual([[], [expect.any(Number)]]);
      if (round < 3) continue;
      const [probe] = probesIn(sent) as [number];
      for (const expected of [all.slice(1, 4), []]) {
        leader.receive(
          FOLLOWER,
          { kind: 'log.appended', length: 0, committed: 0, received: 1, probe },
          4 * SILENT_MS,
        );
        expect(records(sentToFollower(leader))).toEqual(expected);
      }
    }
  });

  test('a follower that has received everything, and has not synced it → is sent nothing again', () => {
    const leader = make(0);
    leader.receive(FOLLOWER, { kind: 'log.appended', length: 0, committed: 0 }, 0);
    leader.propose('a', 0);
    leader.onSynced(1);
    leader.tick(SILENT_MS);
    const [probe] = probesIn(sentToFollower(leader)) as [number];
    leader.receive(
      FOLLOWER,
      { kind: 'log.appended', length: 0, committed: 0, received: 1, probe },
      SILENT_MS,
    );
    expect(records(sentToFollower(leader))).toEqual([]);
  });

  test('a follower was asked → nothing new is sent to it before it has got on', () => {
    const leader = make(0);
    leader.propose('a', 0);
    leader.onSynced(1);
    leader.receive(FOLLOWER, { kind: 'log.appended', length: 0, committed: 0 }, 0);
    expect(records(sentToFollower(leader))).toEqual(['a']);
    leader.tick(SILENT_MS);
    leader.propose('b', SILENT_MS);
    leader.onSynced(2);
    expect(records(sentToFollower(leader))).toEqual([]);
    leader.receive(FOLLOWER, { kind: 'log.appended', length: 1, committed: 0 }, SILENT_MS);
    expect(records(sentToFollower(leader))).toEqual(['b']);
  });
});
