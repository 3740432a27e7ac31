/** What a record of a global costs a site does not grow with the holds that stand there. */
import { expect, test } from 'vitest';
import { toFieldName, toRowName } from '../../../../../../src/server/service/generator/read-set.ts';
import { getExecutionName } from '../../../../../../src/server/site/lane/global-records.ts';
import { RED, type Origin } from '../../../../../../src/server/service/records/origin.ts';
import type {
  GlobalOperation,
  GlobalRecord,
} from '../../../../../../src/server/service/records/records.ts';
import { ID_TABLE_LIMITS } from '../../../../../../src/server/site/parts/lookups/id-table.ts';
import { HoldTable } from '../../../../../../src/server/site/lane/order/hold-table.ts';
import { PartitionCertifier } from '../../../../../../src/server/site/lane/order/partition-certifier.ts';
import {
  GlobalCoordinator,
  type SiteProgress,
} from '../../../../../../src/server/site/lane/requests/global-coordinator.ts';
import { OpenHolds } from '../../../../../../src/server/site/lane/requests/open-holds.ts';
import { replaceMethods } from '../../../../../support/replace-methods.ts';

const [OWN, OTHER] = [1, 2] as Origin[] as [Origin, Origin];
const RESEND_AFTER_MS = 100;
const LOGS = [0, 1, 2];
const PARTITIONS = { ofRow: (_table: string, key: string) => Number(key[0]) };
const PROGRESS: SiteProgress = {
  nowMs: 0,
  getCoverage: () => 'covered',
  getStamp: () => Infinity,
  isDurable: () => true,
  isApplied: () => true,
  isLeader: () => true,
  isReachable: () => true,
};

/**
 * Creates rows of its own in three logs, as others of the same table do. It scans what begins like
 * its own keys.
 */
function createGlobal(at: number, site: Origin): GlobalOperation {
  const keys = LOGS.map((log) => `${log}/${at}`);
  return {
    kind: 'operation',
    id: `g/${at}`,
    site,
    attempt: 1,
    epoch: 1,
    snapshot: [1_000_000, 0],
    operation: 'create',
    reads: keys.map((key) => toFieldName('rows', key, 'value')),
    ranges: keys.map((key) => ({ table: 'rows', from: key, upTo: key })),
    created: keys.map((key) => toRowName('rows', key)),
    clock: 1,
    effects: keys.map((key) => ({
      table: 'rows',
      key,
      field: 'value',
      action: 'assign',
      value: at,
    })),
    reply: { value: null },
    others: [1, 2],
  };
}

/** Counts what it looks at. */
class CountedSite {
  readonly steps = { comparisons: 0, looks: 0 };
  readonly certifiers: readonly PartitionCertifier[];
  readonly coordinator: GlobalCoordinator;
  readonly open: readonly OpenHolds[];

  constructor() {
    const { steps } = this;
    const CountedTable = replaceMethods(HoldTable, (original) => ({
      findOverlappingName: (later, held) => {
        steps.comparisons += 1;
        return original.findOverlappingName(later, held);
      },
    }));
    const CountedCoordinator = replaceMethods(GlobalCoordinator, (original) => ({
      takeDue: (progress) => {
        const due = [...original.takeDue(progress)];
        steps.looks += due.length;
        return due;
      },
    }));
    const limits = { maxWindowCommits: 100_000, maxOutcomes: ID_TABLE_LIMITS };
    this.certifiers = LOGS.map(
      (log) => new PartitionCertifier(limits, RED, new CountedTable(PARTITIONS, log)),
    );
    const tables = this.certifiers.map(({ holds }) => holds);
    this.coordinator = new CountedCoordinator({
      site: OWN,
      resendAfterMs: RESEND_AFTER_MS,
      tables,
    });
    this.open = tables.map((table) => new OpenHolds(table));
  }

  deliver(partition: number, record: GlobalOperation | GlobalRecord): void {
    const decision = this.certifiers[partition]!.decide(record);
    if (decision.kind === 'reject' || decision.kind === 'refuse')
      throw new Error(`${record.id} met a conflict`);
    if (record.kind === 'hold')
      this.open[partition]!.add(getExecutionName(record.operation), record.operation);
    if (record.kind === 'release') this.open[partition]!.delete(record.execution);
    this.coordinator.onDelivered(partition, record, decision);
    this.coordinator.act(PROGRESS);
  }

  hold(operation: GlobalOperation): void {
    for (const partition of operation.others)
      this.deliver(partition, {
        kind: 'hold',
        id: operation.id,
        site: operation.site,
        partition,
        operation,
      });
  }

  /** Runs a global of this site from its begin to its last release. */
  run(operation: GlobalOperation): void {
    this.coordinator.begin(operation, 0);
    this.coordinator.act(PROGRESS);
    this.hold(operation);
    this.deliver(0, { ...operation, holds: [], proposer: OWN });
    const execution = getExecutionName(operation);
    for (const partition of operation.others)
      this.deliver(partition, {
        kind: 'release',
        id: operation.id,
        site: OWN,
        partition,
        execution,
        home: 0,
        stamp: 1,
      });
  }
}

function countSteps(standing: number): { readonly comparisons: number; readonly looks: number } {
  const site = new CountedSite();
  for (let at = 0; at < standing; at += 1) site.hold(createGlobal(at, OTHER));
  Object.assign(site.steps, { comparisons: 0, looks: 0 });
  site.run(createGlobal(standing, OWN));
  return site.steps;
}

// @rule PART-G16
test('a global → as many steps beside 500 holds that stand as beside 10', () => {
  const few = countSteps(10);
  expect(countSteps(500)).toEqual(few);
  // It has six records.
  expect(few.looks).toBeLessThan(10);
  expect(few.comparisons).toBeLessThan(10);
});

test('executions that wait for a time → looked at once it has come, the first time first', () => {
  const site = new CountedSite();
  for (let at = 0; at < 100; at += 1)
    site.deliver(1, {
      kind: 'hold',
      id: `g/${at}`,
      site: OTHER,
      partition: 1,
      operation: createGlobal(at, OTHER),
    });
  site.steps.looks = 0;
  site.coordinator.act({ ...PROGRESS, nowMs: RESEND_AFTER_MS - 1 });
  expect(site.steps.looks).toBe(0);
  expect(site.coordinator.wakeAtMs).toBe(RESEND_AFTER_MS);
  const aborts = site.coordinator.act({ ...PROGRESS, nowMs: RESEND_AFTER_MS });
  expect(aborts.map(({ record }) => record.kind)).toEqual(
    Array.from({ length: 100 }, () => 'abort'),
  );
  expect(site.steps.looks).toBe(100);
});

test('holds that stand → a strong read finds the one that writes what it reads', () => {
  const site = new CountedSite();
  for (let at = 0; at < 100; at += 1) site.hold(createGlobal(at, OTHER));
  const [, open] = site.open as [OpenHolds, OpenHolds];
  const holder = getExecutionName(createGlobal(7, OTHER));
  expect(
    open.findWriter({ names: new Set([toFieldName('rows', '1/7', 'value')]), ranges: [] }),
  ).toBe(holder);
  expect(
    open.findWriter({ names: new Set(), ranges: [{ table: 'rows', from: '1/7', upTo: '1/7' }] }),
  ).toBe(holder);
  expect(
    open.findWriter({ names: new Set([toFieldName('rows', '1/x', 'value')]), ranges: [] }),
  ).toBeUndefined();
  expect(open.hasOperation('g/7')).toBe(true);
  site.deliver(1, {
    kind: 'release',
    id: 'g/7',
    site: OTHER,
    partition: 1,
    execution: holder,
    home: 0,
  });
  expect(open.hasOperation('g/7')).toBe(false);
  expect(
    open.findWriter({ names: new Set([toFieldName('rows', '1/7', 'value')]), ranges: [] }),
  ).toBeUndefined();
});
