/** The rules of the red log that etcd keeps, over the model of etcd. */
// @rule ETCD-D2, ETCD-D3, ETCD-D4, ETCD-D5, ETCD-D6, ETCD-F2, ETCD-F3, ETCD-F4, ETCD-F5, ETCD-S1, ETCD-S2
// @rule ETCD-S3, ETCD-S4, ETCD-W1, ETCD-W3, ETCD-W4, ETCD-W5, ETCD-W6
import { describe, expect, test } from 'vitest';
import {
  encodeGroup,
  MAX_GROUP_RECORDS,
  MAX_RECORD_BYTES,
} from '../../../../../src/server/log/etcd/etcd-groups.ts';
import { EtcdKeys } from '../../../../../src/server/log/etcd/etcd-keys.ts';
import { EtcdLog } from '../../../../../src/server/log/etcd/etcd-log.ts';
import type { EtcdRequest } from '../../../../../src/server/log/etcd/etcd-requests.ts';
import type { LogOutput } from '../../../../../src/server/log/red-log.ts';
import { EtcdWorld } from '../../../../support/etcd-world.ts';
import { siteAt, sitesTo } from '../../../../support/origins.ts';

const KEYS = new EtcdKeys({ deployment: 'test', generation: 0 });
const SETTLE_MS = 500;

/** Stores a group of a site as a client that is gone would. */
function storeLate(
  world: EtcdWorld,
  start: number,
  records: string[],
  head: Partial<{ position: number; digest: number }> = {},
): void {
  const { value, count } = encodeGroup({ first: 1, position: 0, digest: null, ...head }, records);
  world.etcd.store.create(KEYS.formatGroup(siteAt(0), start, count), value);
  world.etcd.notify();
  world.run(SETTLE_MS);
}

const countGroups = ({ etcd }: EtcdWorld): number =>
  etcd.store.range(KEYS.groups, 1000, 0)?.entries.length ?? -1;

describe('etcd log: groups', () => {
  test('while a group is in flight → what is proposed goes into the next one', () => {
    const world = new EtcdWorld();
    world.propose(0, 'a', 'b', 'c');
    world.run(SETTLE_MS);
    expect(world.node(1).taken).toEqual(['a', 'b', 'c']);
    expect(countGroups(world)).toBe(2);
  });

  test('group of a dead start that lands behind a later start → void at all sites', () => {
    const world = new EtcdWorld();
    world.propose(0, 'a');
    world.run(SETTLE_MS);
    const { disk } = world.node(0);
    world.start(0, { epoch: 2, entries: disk });
    world.propose(0, 'b');
    world.run(SETTLE_MS);
    storeLate(world, 1, ['a', 'late']);
    world.propose(1, 'c');
    world.run(SETTLE_MS);
    expect(world.node(1).taken).toEqual(['a', 'b', 'c']);
    expect(world.node(0).taken).toEqual(['a', 'b', 'c']);
    world.start(1, { epoch: 2, entries: world.node(1).disk });
    world.run(SETTLE_MS);
    expect(world.node(1).taken).toEqual(['a', 'b', 'c']);
  });

  test('group of a dead start that lands before the later start proposes → counts', () => {
    const world = new EtcdWorld();
    world.start(0, { epoch: 2 });
    world.run(SETTLE_MS);
    storeLate(world, 1, ['late']);
    world.propose(0, 'b');
    world.run(SETTLE_MS);
    for (const { taken } of world.nodes) expect(taken).toEqual(['late', 'b']);
  });

  test('stops and reports the cause if the group of its own start is void', () => {
    const world = new EtcdWorld();
    world.propose(0, 'a');
    world.run(SETTLE_MS);
    storeLate(world, 7, ['of another node']);
    expect(world.node(0).messages('regressed')[0]).toContain('start 7 of this site');
    expect(world.node(1).taken).toEqual(['a', 'of another node']);
  });

  test('epoch below one that is in the log → begins above it', () => {
    const world = new EtcdWorld();
    storeLate(world, 7, ['of a lost file']);
    world.propose(0, 'b');
    world.run(SETTLE_MS);
    expect(world.node(0).kinds()).not.toContain('regressed');
    expect(world.node(1).taken).toEqual(['of a lost file', 'b']);
  });

  test('record in no group → can be withdrawn; one that was sent cannot', () => {
    const world = new EtcdWorld();
    world.propose(0, 'a', 'b');
    expect(world.node(0).log.withdraw('a')).toBe(false);
    expect(world.node(0).log.withdraw('b')).toBe(true);
    world.run(SETTLE_MS);
    expect(world.node(1).taken).toEqual(['a']);
    expect(world.node(0).log.isBusy).toBe(false);
  });

  test('many and large records → groups stay below the limits of etcd', () => {
    const large = 'x'.repeat(MAX_RECORD_BYTES - 100);
    expect(
      encodeGroup({ first: 1, position: 0, digest: null }, [large, 'y'.repeat(200)]),
    ).toMatchObject({ count: 1 });
    const small = Array.from({ length: 1000 }, (_, index) => `record ${index}`);
    expect(encodeGroup({ first: 1, position: 0, digest: null }, small).count).toBe(
      MAX_GROUP_RECORDS,
    );
    const world = new EtcdWorld();
    world.propose(0, large, ...small);
    world.run(2000);
    expect(world.node(1).taken).toEqual([large, ...small]);
  });
});

describe('etcd log: slow links', () => {
  test('link that takes longer for eight groups than an endpoint may → the site catches up all the same', () => {
    const world = new EtcdWorld();
    const records = Array.from(
      { length: 20 },
      (_, n) => `${n} ${'x'.repeat(MAX_RECORD_BYTES - 100)}`,
    );
    for (const record of records) {
      world.propose(0, record);
      world.run(SETTLE_MS);
    }
    world.etcd.bytesPerMs = 1000;
    world.start(1, { epoch: 2 });
    world.run(120_000);
    expect(world.node(1).taken).toHaveLength(records.length);
    expect(world.node(1).taken).toEqual(records);
  });
});

describe('etcd log: delivery', () => {
  test('taken and not synced → not delivered', () => {
    const world = new EtcdWorld();
    world.node(1).isSyncing = false;
    world.propose(0, 'a');
    world.run(SETTLE_MS);
    expect(world.node(1).disk).toHaveLength(1);
    expect(world.node(1).taken).toEqual([]);
    world.sync(1);
    expect(world.node(1).taken).toEqual(['a']);
  });

  test('record that changes the members → nothing behind it before they are set', () => {
    const world = new EtcdWorld(1);
    const options = {
      getMemberChange: (record: string) => (record === 'join' ? { closes: [] } : undefined),
    };
    const node = world.start(0, { epoch: 2, ...options });
    world.run(SETTLE_MS);
    world.propose(0, 'a', 'join', 'b');
    world.run(SETTLE_MS);
    expect(node.taken).toEqual(['a', 'join']);
    node.log.setMembers({ sites: sitesTo(1), voters: sitesTo(1) });
    world.run(SETTLE_MS);
    expect(node.taken).toEqual(['a', 'join', 'b']);
  });
});

describe('etcd log: reading', () => {
  /** A world with one group of three records behind a single one. */
  const createWorld = (place = {}): EtcdWorld => {
    const world = new EtcdWorld(2, place);
    world.propose(0, 'a', 'b', 'c', 'd');
    world.run(SETTLE_MS);
    return world;
  };

  test.each([0, 1, 2, 3, 4])(
    'restart with %i of four entries on the disk → the rest is taken, once',
    (count) => {
      const world = createWorld();
      const entries = world.node(1).disk.slice(0, count);
      world.start(1, { epoch: 2, entries });
      world.run(SETTLE_MS);
      expect(world.node(1).taken).toEqual(['a', 'b', 'c', 'd']);
      expect(world.node(1).disk).toHaveLength(4);
      world.propose(1, 'e');
      world.run(SETTLE_MS);
      for (const { taken } of world.nodes) expect(taken).toEqual(['a', 'b', 'c', 'd', 'e']);
    },
  );

  test('watch whose place was compacted → reads again and goes on', () => {
    const world = createWorld();
    world.etcd.lagMs.fill(300);
    world.propose(0, 'e');
    world.run(100);
    world.etcd.store.compact(world.etcd.store.revision + 1);
    world.etcd.store.revision += 1;
    world.etcd.lagMs.fill(0);
    world.run(2000);
    expect(world.node(1).taken).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('endpoint that freezes → the next one is asked, and the log is unavailable meanwhile', () => {
    const world = createWorld();
    world.etcd.frozenUntilMs.fill(world.timeline.nowMs + 12_000);
    world.run(9000);
    expect(world.node(0).kinds()).toContain('unavailable');
    world.propose(0, 'e');
    world.run(9000);
    expect(world.node(0).kinds()).toContain('available');
    expect(world.node(1).taken).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('reading is refused → the reason is reported, and the log is available once it is granted', () => {
    const world = new EtcdWorld(1);
    world.etcd.refused.add('etcd.range');
    world.start(0, { epoch: 2 });
    world.run(9000);
    expect(world.node(0).messages('unavailable')).toEqual([
      expect.stringContaining('permission denied'),
    ]);
    world.etcd.refused.clear();
    world.run(1000);
    expect(world.node(0).kinds()).toContain('available');
  });

  test('own group that is stored and does not appear → another endpoint is asked', () => {
    const world = createWorld();
    world.etcd.lagMs.fill(60_000);
    world.propose(0, 'e');
    world.run(2500);
    expect(world.node(0).taken).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('group that cannot be read → needs a newer version', () => {
    const world = createWorld();
    world.etcd.store.create(KEYS.formatGroup(siteAt(0), 1, 5), new Uint8Array([9, 1, 2]));
    world.etcd.notify();
    world.run(SETTLE_MS);
    expect(world.node(1).messages('outdated')[0]).toContain(
      'cannot be read: it is written in version 9',
    );
  });

  test('restored log, nothing can be written → a site that lacks older entries is behind, others read', () => {
    const { disk } = createWorld().node(0);
    const world = new EtcdWorld(2, { generation: 1, baseLengths: [4] });
    world.etcd.isFull = true;
    for (const count of [0, 4]) {
      const node = world.start(0, { epoch: 2, entries: disk.slice(0, count) });
      world.run(SETTLE_MS);
      expect(node.kinds().includes('behind')).toBe(count === 0);
    }
    expect(world.node(0).taken).toEqual(['a', 'b', 'c', 'd']);
  });

  test.each([
    ['shorter', 2],
    ['longer', 6],
  ])(
    'restored logs, that of main %s than another one → each goes on behind its own end',
    (_, main) => {
      const { disk } = createWorld().node(0);
      const world = new EtcdWorld(2, { generation: 1, baseLengths: [main, 4] });
      for (const site of [0, 1]) world.start(site, { epoch: 2, entries: disk, partition: 1 });
      world.propose(0, 'e');
      world.run(SETTLE_MS);
      for (const site of [0, 1]) expect(world.node(site).taken).toEqual(['a', 'b', 'c', 'd', 'e']);
    },
  );

  test('group whose predecessor is not there → the site is behind', () => {
    const world = createWorld();
    const { value } = encodeGroup({ first: 9, position: 0, digest: null }, ['x']);
    world.etcd.store.create(KEYS.formatGroup(siteAt(0), 1, 9), value);
    world.etcd.notify();
    world.run(SETTLE_MS);
    expect(world.node(1).kinds()).toContain('behind');
  });
});

describe('etcd log: copies that differ', () => {
  test('group whose proposer had taken other entries → halts', () => {
    const world = new EtcdWorld();
    world.propose(1, 'a');
    world.run(SETTLE_MS);
    storeLate(world, 1, ['b'], { position: 1, digest: 12_345 });
    for (const node of world.nodes) {
      expect(node.messages('differs')[0]).toContain(
        'the first 1 entries of the log are others at site 1',
      );
      expect(node.taken).toEqual(['a']);
    }
  });

  test('group whose proposer had taken more → halts', () => {
    const world = new EtcdWorld();
    storeLate(world, 1, ['b'], { position: 3 });
    expect(world.node(1).messages('regressed')[0]).toContain(
      'has taken 3 entries before its next one',
    );
  });

  test('other digest at another site → halts within a second', () => {
    const world = new EtcdWorld();
    for (const site of [0, 1]) {
      world.propose(site, 'a');
      world.run(SETTLE_MS);
    }
    world.start(1, { epoch: 2, entries: world.node(1).disk.toReversed() });
    world.run(1500);
    expect(world.node(0).messages('differs')[0]).toContain('are others at site 2');
  });

  test('older disks under running sites → all halt', () => {
    const world = new EtcdWorld();
    const old = world.etcd.store.copy();
    world.propose(0, 'a');
    world.run(SETTLE_MS);
    world.etcd.replaceStore(old);
    world.run(SETTLE_MS);
    for (const node of world.nodes)
      expect(node.messages('regressed')[0]).toContain('put back to an older state');
  });

  test('older disks while a site that lacks what they lost is away → it proposes nothing, and halts', () => {
    const world = new EtcdWorld(3);
    const old = world.etcd.store.copy();
    world.stop(2);
    world.propose(0, 'lost');
    world.run(SETTLE_MS);
    world.etcd.replaceStore(old);
    const node = world.start(2, { epoch: 2 });
    world.propose(2, 'forked');
    world.run(3000);
    expect(countGroups(world)).toBe(0);
    expect(node.taken).toEqual([]);
    expect(node.messages('regressed')[0]).toContain(
      'etcd has 0 entries of the log, and site 1 has 1',
    );
  });

  test('one of three sites does not reply → proposes after a second; two do not → after half a minute', () => {
    const world = new EtcdWorld(3);
    world.stop(1, 2);
    const node = world.start(0, { epoch: 2 });
    world.propose(0, 'alone');
    world.run(4000);
    expect(node.messages('unavailable')[0]).toContain(
      'have not yet replied with how much of the log they have',
    );
    world.run(28_000);
    expect(node.taken).toEqual(['alone']);
    expect(node.kinds()).toContain('available');
    world.start(1, { epoch: 2 });
    const again = world.start(0, { epoch: 3, entries: node.disk });
    world.propose(0, 'with one');
    world.run(2000);
    expect(again.taken).toEqual(['alone', 'with one']);
  });

  test('older disks while a site is down → it halts at its start, by its entries or its checkpoint', () => {
    const world = new EtcdWorld();
    const old = world.etcd.store.copy();
    world.propose(0, 'a');
    world.run(SETTLE_MS);
    const { disk, log } = world.node(0);
    const saved = log.save();
    world.etcd.replaceStore(old);
    for (const stored of [{ entries: disk }, { saved, start: 1 }]) {
      const node = world.start(0, { epoch: 2, ...stored });
      world.run(SETTLE_MS);
      expect(node.messages('regressed')[0]).toContain('etcd lacks entry 1');
    }
  });
});

describe('etcd log: room', () => {
  const release = (world: EtcdWorld): void => {
    for (const { log } of world.nodes) log.release(log.save().delivered);
    world.run(3000);
  };

  test('what all sites have in a checkpoint → is deleted and compacted; a site that lacks it is behind', () => {
    const world = new EtcdWorld(2, { markEvery: 2 });
    world.propose(0, 'a');
    world.propose(1, 'b');
    world.run(SETTLE_MS);
    const { disk } = world.node(1);
    world.propose(0, 'c', 'd');
    world.run(SETTLE_MS);
    release(world);
    expect(countGroups(world)).toBe(0);
    expect(world.etcd.store.compacted).toBeGreaterThan(0);
    const late = world.start(1, { epoch: 2, entries: disk.slice(0, 1) });
    world.run(SETTLE_MS);
    expect(late.kinds()).toContain('behind');
    const other = world.start(1, { epoch: 3, saved: world.node(0).log.save(), start: 4 });
    world.propose(0, 'e');
    world.run(SETTLE_MS);
    expect(other.taken).toEqual(['e']);
  });

  test('site that has no checkpoint, or was not heard → nothing is deleted', () => {
    const world = new EtcdWorld(2, { markEvery: 1 });
    world.propose(0, 'a');
    world.run(SETTLE_MS);
    const { log } = world.node(0);
    log.release(log.save().delivered);
    world.run(3000);
    expect(countGroups(world)).toBe(1);
    // It is left behind.
    log.setMembers({ sites: sitesTo(1), voters: sitesTo(1) });
    world.run(3000);
    expect(countGroups(world)).toBe(0);
  });

  test('compaction that fails → is repeated, and named if etcd is nearly full', () => {
    const world = new EtcdWorld(2, { markEvery: 1 });
    world.etcd.refused.add('etcd.compact');
    world.etcd.usedBytes = 700_000;
    world.propose(0, 'a');
    world.run(SETTLE_MS);
    release(world);
    world.run(7000);
    expect(countGroups(world)).toBe(0);
    expect(world.node(0).messages('full').at(-1)).toBe(
      'etcd uses 70 % of its quota, and cannot be compacted: permission denied',
    );
    world.etcd.refused.clear();
    world.run(7000);
    expect(world.etcd.store.compacted).toBeGreaterThan(0);
    expect(world.node(0).messages('full').at(-1)).toBe('etcd uses 70 % of its quota');
  });

  test('log of an earlier generation → is deleted', () => {
    const world = new EtcdWorld(2, { generation: 12, markEvery: 1 });
    const groups = [0, 2, 11, 13].map((generation) =>
      new EtcdKeys({ deployment: 'test', generation }).formatGroup(1, 1, 1),
    );
    for (const key of groups) world.etcd.store.create(key, new Uint8Array());
    world.propose(0, 'a');
    world.run(SETTLE_MS);
    release(world);
    const all = world.etcd.store
      .range({ key: '/test/', end: '/test0' }, 100, 0)
      ?.entries.map(({ key }) => key);
    expect(all?.filter((key) => groups.includes(key))).toEqual([groups[3]]);
  });

  test('write that lands once its group was trimmed → counts at no site', () => {
    const world = new EtcdWorld(2, { markEvery: 1 });
    world.propose(0, 'a');
    world.run(SETTLE_MS);
    release(world);
    storeLate(world, 1, ['a']);
    world.propose(1, 'b');
    world.run(SETTLE_MS);
    for (const { taken } of world.nodes) expect(taken).toEqual(['a', 'b']);
  });

  test('reports a used-up quota, and reports again when there is room', () => {
    const world = new EtcdWorld();
    world.etcd.isFull = true;
    world.propose(0, 'a');
    world.run(SETTLE_MS);
    expect(world.node(0).messages('full')[0]).toContain('etcdctl defrag');
    world.etcd.isFull = false;
    world.run(SETTLE_MS);
    expect(world.node(0).messages('full').at(-1)).toBe('undefined');
    expect(world.node(1).taken).toEqual(['a']);
  });

  test('more than 60 % of the quota → it is reported once', () => {
    const world = new EtcdWorld();
    world.etcd.usedBytes = 700_000;
    world.run(7000);
    world.etcd.usedBytes = 700_100;
    world.run(7000);
    expect(world.node(0).messages('full')).toEqual(['etcd uses 70 % of its quota']);
    world.etcd.usedBytes = 0;
    world.run(7000);
    expect(world.node(0).messages('full')).toHaveLength(2);
  });

  test('group whose write is refused for lack of room, and that is in the log → room is noticed', () => {
    const place = {
      site: siteAt(0),
      sites: sitesTo(1),
      leader: siteAt(0),
      epoch: 1,
      resendAfterMs: 10,
    };
    const log = new EtcdLog<string>(place, { deployment: 'test', generation: 0 });
    const outputs: LogOutput<string>[] = [];
    const find = <K extends EtcdRequest['kind']>(
      kind: K,
    ): Extract<EtcdRequest, { readonly kind: K }> => {
      outputs.push(...log.takeOutputs());
      const requests = outputs.flatMap((output) =>
        output.kind === 'request' ? [output.request as EtcdRequest] : [],
      );
      return requests.findLast((request) => request.kind === kind) as Extract<
        EtcdRequest,
        { readonly kind: K }
      >;
    };
    const replyStatus = (nowMs: number): void => {
      log.onReply({ kind: 'etcd.progress', id: find('etcd.progress').id, revision: 2 }, nowMs);
      const usage = { usedBytes: 0, sizeBytes: 0, quotaBytes: 1 };
      log.onReply({ kind: 'etcd.status', id: find('etcd.status').id, ...usage }, nowMs);
    };
    log.onReply({ kind: 'etcd.connected', endpoint: '' }, 0);
    while (find('etcd.watch') === undefined)
      log.onReply(
        { kind: 'etcd.range', id: find('etcd.range').id, revision: 1, entries: [], hasMore: false },
        0,
      );
    log.propose('a', 0);
    const { id, key, value } = find('etcd.create');
    log.onReply({ kind: 'etcd.failed', id, reason: 'other', message: 'timeout' }, 10);
    log.tick(20);
    log.onReply(
      { kind: 'etcd.failed', id: find('etcd.create').id, reason: 'no-space', message: 'no space' },
      30,
    );
    replyStatus(40);
    expect(outputs).toContainEqual({ kind: 'full', message: expect.stringContaining('etcdctl') });
    const events = [{ key, value, modRevision: 2 }];
    log.onReply(
      { kind: 'etcd.events', id: find('etcd.watch').id, revision: 2, entries: events },
      50,
    );
    log.tick(5100);
    replyStatus(5110);
    expect(log.takeOutputs()).toContainEqual({ kind: 'full', message: undefined });
  });
});
