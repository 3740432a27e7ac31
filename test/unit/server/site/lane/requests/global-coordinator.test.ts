/** What a site appends for globals, from what its logs have delivered. */
import { describe, expect, test } from 'vitest';
import { getExecutionName } from '../../../../../../src/server/site/lane/global-records.ts';
import type {
  GlobalOperation,
  GlobalRecord,
} from '../../../../../../src/server/service/records/records.ts';
import { RED, type Origin } from '../../../../../../src/server/service/records/origin.ts';
import { ID_TABLE_LIMITS } from '../../../../../../src/server/site/parts/lookups/id-table.ts';
import { HoldTable } from '../../../../../../src/server/site/lane/order/hold-table.ts';
import { PartitionCertifier } from '../../../../../../src/server/site/lane/order/partition-certifier.ts';
import {
  getRetryDelayMs,
  GlobalCoordinator,
  type SiteProgress,
} from '../../../../../../src/server/site/lane/requests/global-coordinator.ts';

const OWN = 1 as Origin;
const RESEND_AFTER_MS = 100;
const PARTITIONS = { ofRow: (_table: string, key: string) => Number(key) };
const LOGS = [0, 1, 2];

/** Its home is `main`, and it holds rows of two other partitions. */
const GLOBAL: GlobalOperation = {
  kind: 'operation',
  id: 'g/1',
  site: OWN,
  attempt: 2,
  epoch: 1,
  snapshot: [0, 5],
  operation: 'change',
  reads: [],
  clock: 1,
  effects: LOGS.map((log) => ({
    table: 'rows',
    key: String(log),
    field: 'value',
    action: 'assign',
    value: 1,
  })),
  reply: { value: null },
  others: [1, 2],
};
const EXECUTION = getExecutionName(GLOBAL);

/** A site with three logs, to which a test appends what it likes. */
class Site {
  readonly certifiers: readonly PartitionCertifier[];
  readonly coordinator: GlobalCoordinator;
  nowMs = 0;
  coverage: 'covered' | 'later' | 'never' = 'covered';
  isDurable = true;
  applied = 0;
  leads: readonly number[] = [];
  unreachable: readonly number[] = [];

  constructor(site: number, maxWindowCommits = 100, maxGlobals?: number) {
    const limits = { maxWindowCommits, maxOutcomes: ID_TABLE_LIMITS };
    this.certifiers = LOGS.map(
      (log) => new PartitionCertifier(limits, RED, new HoldTable(PARTITIONS, log)),
    );
    this.coordinator = new GlobalCoordinator({
      site: site as Origin,
      resendAfterMs: RESEND_AFTER_MS,
      tables: this.certifiers.map(({ holds }) => holds),
      maxGlobals,
    });
  }

  /** Returns what the site appends, as `kind partition`. */
  act(): string[] {
    return this.propose().map(({ partition, record }) => `${record.kind} ${partition}`);
  }

  propose(): ReturnType<GlobalCoordinator['act']> {
    const progress: SiteProgress = {
      nowMs: this.nowMs,
      getCoverage: () => this.coverage,
      getStamp: () => (this.coverage === 'covered' ? Infinity : 0),
      isDurable: () => this.isDurable,
      isApplied: (_, stamp) => stamp <= this.applied,
      isLeader: (partition) => this.leads.includes(partition),
      isReachable: (partition) => !this.unreachable.includes(partition),
    };
    return this.coordinator.act(progress);
  }

  deliver(partition: number, record: GlobalOperation | GlobalRecord): GlobalOperation | undefined {
    const decision = this.certifiers[partition]!.decide(record);
    return this.coordinator.onDelivered(partition, record, decision);
  }

  hold(partition: number, operation = GLOBAL): GlobalOperation | undefined {
    return this.deliver(partition, {
      kind: 'hold',
      id: operation.id,
      site: OWN,
      partition,
      operation,
    });
  }

  release(partition: number, stamp?: number): void {
    const record = {
      kind: 'release',
      id: 'g/1',
      site: OWN,
      partition,
      execution: EXECUTION,
      home: 0,
    } as const;
    this.deliver(partition, stamp === undefined ? record : { ...record, stamp });
  }
}

describe('the executing site', () => {
  test('appends all holds, then the record with their stamps, once (G6, G8)', () => {
    const site = new Site(OWN);
    site.coordinator.begin(GLOBAL, 0);
    expect(site.act()).toEqual(['hold 1', 'hold 2']);
    expect(site.act()).toEqual([]);
    site.hold(1);
    expect(site.act()).toEqual([]);
    site.hold(2);
    const [proposal] = site.propose();
    expect(proposal).toMatchObject({
      partition: 0,
      record: {
        id: 'g/1',
        holds: [
          [1, 1],
          [2, 1],
        ],
        proposer: OWN,
      },
    });
    expect(site.act()).toEqual([]);
  });

  test('waits with the record until another site has its blue operations (R8)', () => {
    const site = new Site(OWN);
    site.coordinator.begin(GLOBAL, 0);
    site.act();
    site.hold(1);
    site.hold(2);
    site.isDurable = false;
    expect(site.act()).toEqual([]);
    site.isDurable = true;
    expect(site.act()).toEqual(['operation 0']);
  });

  test('of an earlier start waits for that too (R8)', () => {
    const site = new Site(OWN);
    site.hold(1);
    site.hold(2);
    site.isDurable = false;
    site.act();
    site.nowMs = RESEND_AFTER_MS;
    expect(site.act()).toEqual([]);
    site.isDurable = true;
    expect(site.act()).toEqual(['operation 0']);
  });

  test('after three refusals takes its holds one by one (G8e)', () => {
    const site = new Site(OWN);
    site.coordinator.begin(GLOBAL, 3);
    expect(site.act()).toEqual(['hold 1']);
    expect(site.act()).toEqual([]);
    site.hold(1);
    expect(site.act()).toEqual(['hold 2']);
  });

  // @rule PART-G17
  describe('with as many globals as may hold rows at a time', () => {
    /** Rows of its own in the logs. */
    const createGlobal = (id: string, others: readonly number[] = [1, 2]): GlobalOperation => ({
      ...GLOBAL,
      id,
      others,
      effects: [0, ...others].map((log) => ({
        ...GLOBAL.effects[0]!,
        key: String(log),
        field: id,
      })),
    });
    const [first, second, third] = ['a/1', 'b/1', 'c/1'].map((id) => createGlobal(id)) as [
      GlobalOperation,
      GlobalOperation,
      GlobalOperation,
    ];

    test('lets the next one begin once one has committed, and holds nothing before', () => {
      const site = new Site(OWN, 100, 1);
      for (const global of [first, second, third]) site.coordinator.begin(global, 0);
      expect(site.propose().map(({ record }) => record.id)).toEqual(['a/1', 'a/1']);
      site.hold(1, first);
      site.hold(2, first);
      site.act();
      site.deliver(0, { ...first, holds: [] });
      expect(site.propose().map(({ record }) => record.id)).toEqual(['b/1', 'b/1']);
    });

    test('lets the next one begin once one is refused or given up', () => {
      const site = new Site(OWN, 100, 1);
      for (const global of [first, second, third]) site.coordinator.begin(global, 0);
      site.act();
      // The second one waits, and has proposed nothing.
      expect(site.coordinator.withdraw(second)).toBe(true);
      expect(site.coordinator.withdraw(first)).toBe(false);
      site.hold(1, { ...first, id: 'other/1' });
      expect(site.hold(1, first)).toBe(first);
      expect(site.propose().map(({ record }) => record.id)).toContain('c/1');
    });

    test('has other places for globals over other logs', () => {
      const site = new Site(OWN, 100, 1);
      for (const global of [first, second, createGlobal('d/1', [2])])
        site.coordinator.begin(global, 0);
      expect(site.propose().map(({ record }) => record.id)).toEqual(['a/1', 'a/1', 'd/1']);
    });
  });

  // @rule PART-G8f
  test.each([0, 1, 2])('holds nothing while log %i is out of reach (G8f)', (log) => {
    const site = new Site(OWN);
    site.coordinator.begin(GLOBAL, 0);
    site.unreachable = [log];
    expect(site.act()).toEqual([]);
    site.unreachable = [];
    expect(site.act()).toEqual(['hold 1', 'hold 2']);
  });

  test('learns of a refusal, an abort and a rejection, once', () => {
    const blocker = { ...GLOBAL, id: 'h/1' };
    const refused = new Site(OWN);
    refused.coordinator.begin(GLOBAL, 0);
    refused.hold(1, blocker);
    expect(refused.hold(1)).toBe(GLOBAL);
    expect(refused.hold(1)).toBeUndefined();

    const aborted = new Site(OWN);
    aborted.coordinator.begin(GLOBAL, 0);
    expect(aborted.deliver(0, { kind: 'abort', id: 'g/1', site: OWN, execution: EXECUTION })).toBe(
      GLOBAL,
    );
    expect(aborted.act()).toEqual([]);

    const rejected = new Site(OWN);
    rejected.coordinator.begin(GLOBAL, 0);
    rejected.hold(0, { ...blocker, partition: 1, others: [0] });
    expect(rejected.deliver(0, GLOBAL)).toBe(GLOBAL);
  });

  test('goes on if another site is closed before its copy of the record, and learns of an abort behind that', () => {
    const site = new Site(OWN);
    site.coordinator.begin(GLOBAL, 0);
    site.act();
    site.hold(1);
    site.hold(2);
    expect(site.act()).toEqual(['operation 0']);
    expect(
      site.coordinator.onDelivered(0, { ...GLOBAL, proposer: 2 as Origin }, { kind: 'void' }),
    ).toBeUndefined();
    expect(site.act()).toEqual(['operation 0']);
    expect(site.deliver(0, { kind: 'abort', id: 'g/1', site: OWN, execution: EXECUTION })).toBe(
      GLOBAL,
    );
  });

  // @rule PART-G8e
  test('waits longer with each attempt, for a random time (G8e)', () => {
    expect(getRetryDelayMs(1, 100, 1)).toBe(25);
    expect(getRetryDelayMs(4, 100, 0.5)).toBe(50);
    expect(getRetryDelayMs(4, 100, 0)).toBe(0);
  });
});

describe('any other site', () => {
  // @rule PART-G8
  test('proposes the record after a time, if it shows the snapshot (G8)', () => {
    const site = new Site(2);
    site.hold(1);
    site.hold(2);
    expect(site.act()).toEqual([]);
    expect(site.coordinator.wakeAtMs).toBe(RESEND_AFTER_MS);
    site.nowMs = RESEND_AFTER_MS;
    site.coverage = 'later';
    expect(site.act()).toEqual([]);
    site.coverage = 'covered';
    const [proposal] = site.propose();
    expect(proposal).toMatchObject({ partition: 0, record: { site: OWN, proposer: 2 } });
  });

  test('aborts if a part of the snapshot is lost (G8)', () => {
    const site = new Site(2);
    site.hold(1);
    site.hold(2);
    site.act();
    site.nowMs = RESEND_AFTER_MS;
    site.coverage = 'never';
    expect(site.act()).toEqual(['abort 0']);
  });

  // @rule PART-G8c
  test('aborts if a hold is missing for a time that grows with the attempt (G8c)', () => {
    const site = new Site(2);
    site.hold(1);
    site.act();
    site.nowMs = 2 * RESEND_AFTER_MS - 1;
    expect(site.act()).toEqual([]);
    site.nowMs = 2 * RESEND_AFTER_MS;
    expect(site.act()).toEqual(['abort 0']);
    site.deliver(0, { kind: 'abort', id: 'g/1', site: OWN, execution: EXECUTION });
    site.leads = [1, 2];
    expect(site.act()).toEqual(['release 1']);
    site.release(1);
    // The hold that was missing comes late.
    site.hold(2);
    expect(site.act()).toEqual(['release 2']);
  });

  // @rule PART-G8d
  test('proposes the record again if the home log has forgotten that it was rejected (G8d)', () => {
    const site = new Site(2, 1);
    site.hold(1);
    site.hold(2);
    site.act();
    site.nowMs = RESEND_AFTER_MS;
    const [proposal] = site.propose();
    const record = proposal?.record as GlobalOperation;
    site.hold(0, { ...GLOBAL, id: 'h/1' });
    site.deliver(0, record);
    // The window of the home log has one stamp.
    site.hold(0, { ...GLOBAL, id: 'i/1' });
    site.leads = [1, 2];
    expect(site.act()).toEqual(['operation 0']);
    site.deliver(0, record);
    expect(site.act()).toEqual(['release 1', 'release 2']);
  });

  // @rule PART-G8b
  test('ends the other holds once one is refused (G8b)', () => {
    const site = new Site(2);
    site.hold(2, { ...GLOBAL, id: 'h/1' });
    site.hold(1);
    site.hold(2);
    site.leads = [1];
    expect(site.act()).toEqual(['release 1']);
  });
});

describe('a release of a global that has committed', () => {
  function commit(site: Site): void {
    site.hold(1);
    site.hold(2);
    site.deliver(0, {
      ...GLOBAL,
      holds: [
        [1, 1],
        [2, 1],
      ],
    });
  }

  test('comes from the leader of the log once it has applied the global, from others later (G8a)', () => {
    const site = new Site(2);
    commit(site);
    site.leads = [2];
    expect(site.act()).toEqual([]);
    site.applied = 2;
    const [proposal] = site.propose();
    expect(proposal).toMatchObject({
      partition: 2,
      record: { kind: 'release', home: 0, stamp: 2 },
    });
    site.release(2, 2);
    site.nowMs = RESEND_AFTER_MS;
    expect(site.act()).toEqual(['release 1']);
  });

  // @rule PART-G8g
  test('follows a restart, also if the home log remembers the global no longer (G8g)', () => {
    const site = new Site(2);
    commit(site);
    site.release(1, 2);
    const restarted = new Site(2);
    restarted.hold(2);
    restarted.coordinator.load(structuredClone(site.coordinator.save()));
    restarted.applied = 2;
    restarted.leads = [2];
    expect(restarted.act()).toEqual(['release 2']);
    restarted.release(2, 2);
    expect(restarted.coordinator.save()).toEqual([]);
  });
});
