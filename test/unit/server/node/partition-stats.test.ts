/** What a site counts for each of several red logs. */
import { expect, test } from 'vitest';
import type { CertificationDecision } from '../../../../src/server/service/records/certification-result.ts';
import { getExecutionName } from '../../../../src/server/site/lane/global-records.ts';
import type { GlobalOperation, RedRecord } from '../../../../src/server/service/records/records.ts';
import { PartitionStats } from '../../../../src/server/node/partition-stats.ts';
import { siteAt } from '../../../support/origins.ts';

const [OWN, OTHER] = [siteAt(0), siteAt(1)];
const [MAIN, US] = [0, 1] as const;

const global: GlobalOperation = {
  kind: 'operation',
  id: 'ada/1',
  site: OWN,
  attempt: 1,
  epoch: 1,
  snapshot: [0, 0, 0],
  operation: 'transfer',
  reads: [],
  clock: 1,
  effects: [],
  reply: { value: true },
  others: [US],
} as unknown as GlobalOperation;
const execution = getExecutionName(global);
const inUs = { id: global.id, site: OWN, partition: US } as const;

function createStats() {
  let nowMs = 0;
  const stats = new PartitionStats(OWN, ['main', 'us'], () => nowMs);
  const pass = (
    partition: number,
    record: RedRecord,
    decision: CertificationDecision,
    ended?: GlobalOperation,
  ): void => stats.onRedPassed({ partition, record, decision, ended });
  return { stats, pass, wait: (ms: number) => void (nowMs += ms) };
}

test('a global that commits counts in its home, and its hold in the other log', () => {
  const { stats, pass, wait } = createStats();
  pass(US, { kind: 'hold', ...inUs, operation: global }, { kind: 'grant', stamp: 1 });
  wait(90);
  pass(MAIN, { ...global, holds: [[US, 1]] }, { kind: 'commit', stamp: 2 });
  wait(10);
  pass(
    US,
    { kind: 'release', ...inUs, execution, home: MAIN, stamp: 2 },
    { kind: 'release', stamp: 3 },
  );
  const [main, us] = stats.logs;
  expect(main).toMatchObject({
    committed: 1,
    globals: { committed: 1, refused: 0, aborted: 0 },
    holds: { count: 0 },
  });
  expect(us).toMatchObject({
    committed: 0,
    globals: { committed: 0 },
    holds: { count: 1, sumMs: 100 },
  });
});

test('a refused hold and an abort count in the home of the global', () => {
  const { stats, pass } = createStats();
  const conflict = { reason: 'window' } as const;
  pass(
    US,
    { kind: 'hold', ...inUs, operation: global },
    { kind: 'refuse', stamp: 1, conflict },
    global,
  );
  pass(
    MAIN,
    { kind: 'abort', id: global.id, site: OTHER, execution },
    { kind: 'abort', stamp: 1 },
    global,
  );
  expect(stats.logs.map(({ globals }) => globals)).toEqual([
    { committed: 0, refused: 1, aborted: 1 },
    { committed: 0, refused: 0, aborted: 0 },
  ]);
});

test('commits, rejections and checks of other sites do not count', () => {
  const { stats, pass } = createStats();
  const [local, foreign] = [OWN, OTHER].map(
    (site) => ({ ...global, site, others: undefined }) as unknown as RedRecord,
  );
  for (const record of [local!, foreign!]) {
    pass(MAIN, record, { kind: 'commit', stamp: 1 });
    stats.onRejected(record as GlobalOperation, { reason: 'window' });
  }
  for (const site of [OWN, OTHER])
    for (const conflict of [undefined, { reason: 'window' } as const])
      pass(
        US,
        { kind: 'check', ...inUs, site, attempt: 1, snapshot: [0, 0, 0], reads: [] },
        { kind: 'check', conflict },
      );
  const [main, us] = stats.logs;
  expect(main).toMatchObject({
    committed: 1,
    rejections: { stats: { window: 1 } },
    failedChecks: 0,
  });
  expect(us).toMatchObject({ committed: 0, failedChecks: 1 });
});

test('a record waits at the gate from its delivery on', () => {
  const { stats, pass, wait } = createStats();
  const marker = { kind: 'marker', ...inUs } as const;
  stats.onRedDelivered(marker);
  wait(7);
  pass(US, marker, { kind: 'marker' });
  // It was delivered before the start.
  pass(US, { ...marker }, { kind: 'marker' });
  expect(stats.logs[US]?.gateWaits).toEqual({ count: 1, sumMs: 7 });
});
