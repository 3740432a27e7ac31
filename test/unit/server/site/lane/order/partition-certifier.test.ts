/**
 * What one log decides about the records of globals: holds, the record in the home, releases and
 * aborts.
 */
import { describe, expect, test } from 'vitest';
import type { CertificationDecision } from '../../../../../../src/server/service/records/certification-result.ts';
import { getExecutionName } from '../../../../../../src/server/site/lane/global-records.ts';
import { Origins, RED, type Origin } from '../../../../../../src/server/service/records/origin.ts';
import type {
  GlobalOperation,
  RedOperation,
} from '../../../../../../src/server/service/records/records.ts';
import {
  toFieldName,
  toTableName,
} from '../../../../../../src/server/service/generator/read-set.ts';
import { ID_TABLE_LIMITS } from '../../../../../../src/server/site/parts/lookups/id-table.ts';
import { HoldTable } from '../../../../../../src/server/site/lane/order/hold-table.ts';
import { PartitionCertifier } from '../../../../../../src/server/site/lane/order/partition-certifier.ts';
import { ORDER_PARTS, RedOrder } from '../../../../../../src/server/site/lane/order/red-order.ts';
import type { SiteState } from '../../../../../../src/server/site/core/site-state.ts';
import { saveAll, saveChanges } from '../../../../../support/saved-rows.ts';

const MAIN = 0;
const US = 1;
const SITE = 1 as Origin;
const PARTITIONS = { ofRow: (_table: string, key: string) => (key.startsWith('us/') ? US : MAIN) };

interface Rows {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly snapshot?: number;
  readonly attempt?: number;
}

const toName = (key: string): string => toFieldName('rows', key, 'value');

function operation(
  id: string,
  { reads = [], writes = [], snapshot = 0, attempt = 1 }: Rows,
): RedOperation {
  return {
    kind: 'operation',
    id,
    site: SITE,
    attempt,
    epoch: 1,
    snapshot: [snapshot],
    operation: 'change',
    reads: reads.map(toName),
    clock: 1,
    effects: writes.map((key) => ({
      table: 'rows',
      key,
      field: 'value',
      action: 'assign',
      value: 1,
    })),
    reply: { value: null },
  };
}

const global = (id: string, home: number, rows: Rows): GlobalOperation => ({
  ...operation(id, rows),
  partition: home,
  others: [home === MAIN ? US : MAIN],
});

/** One log, and short forms of its records. */
class Log {
  readonly certifier: PartitionCertifier;

  constructor(partition = MAIN, maxWindowCommits = 100) {
    const limits = { maxWindowCommits, maxOutcomes: ID_TABLE_LIMITS };
    this.certifier = new PartitionCertifier(limits, RED, new HoldTable(PARTITIONS, partition));
  }

  hold(item: GlobalOperation): CertificationDecision {
    return this.certifier.decide({ kind: 'hold', id: item.id, site: SITE, operation: item });
  }

  record(item: RedOperation | GlobalOperation): CertificationDecision {
    return this.certifier.decide(item);
  }

  release(item: GlobalOperation, stamp?: number): CertificationDecision {
    const execution = getExecutionName(item);
    const record = { kind: 'release', id: item.id, site: SITE, execution, home: US } as const;
    return this.certifier.decide(stamp === undefined ? record : { ...record, stamp });
  }

  abort(item: GlobalOperation): CertificationDecision {
    return this.certifier.decide({
      kind: 'abort',
      id: item.id,
      site: SITE,
      execution: getExecutionName(item),
    });
  }

  /** Writes rows that no test reads, until the window has forgotten what was before. */
  fill(count: number): void {
    for (let number = 0; number < count; number += 1)
      this.record(operation(`fill-${number}/1`, { writes: ['filler'] }));
  }
}

// @rule PART-G12
describe('a log that was restored without confirmed records', () => {
  /**
   * The log of `main` with two stamps, then its opening with the holds that the log of `us` names.
   */
  function open(
    ...holds: readonly (readonly [GlobalOperation, stamp: number])[]
  ): [Log, CertificationDecision] {
    const log = new Log();
    log.record(operation('a/1', { writes: ['x'] }));
    log.hold(global('kept/1', US, { writes: ['y'] }));
    const decision = log.certifier.decide({
      kind: 'opening',
      id: 'ireland-0-1.opening/1',
      site: SITE,
      stamp: 40,
      holds: holds.map(([item, stamp]) => ({ operation: item, stamp })),
    });
    return [log, decision];
  }

  const lost = global('lost/1', US, { reads: ['x'], writes: ['x', 'y'] });

  test('its opening takes a stamp above all that are named, and later ones are above it', () => {
    const [log, decision] = open();
    expect(decision).toEqual({ kind: 'open', stamp: 40, restated: [] });
    expect(log.record(operation('b/1', { writes: ['z'] }))).toEqual({ kind: 'commit', stamp: 41 });
  });

  test('a lost hold stands again, whatever it meets, and its release counts as the writing', () => {
    const [log, decision] = open([lost, 9]);
    expect(decision).toMatchObject({ restated: [getExecutionName(lost)] });
    expect(log.record(operation('b/1', { writes: ['x'], snapshot: 40 }))).toMatchObject({
      kind: 'reject',
      conflict: { reason: 'held' },
    });
    expect(log.release(lost, 50)).toEqual({ kind: 'release', stamp: 51 });
    const late = operation('c/1', { reads: ['x'], writes: ['x'], snapshot: 40 });
    expect(log.record(late)).toMatchObject({ kind: 'reject', conflict: { reason: 'name' } });
  });

  test('a hold that the log has, and one that it had before, do not stand again', () => {
    const [log, decision] = open([global('kept/1', US, { writes: ['y'] }), 9], [lost, 2]);
    expect(decision).toMatchObject({ restated: [] });
    expect([...log.certifier.holds.standing.values()].map(({ stamp }) => stamp)).toEqual([2]);
  });
});

// @rule PART-G12
test('a log lost the copy with a site that joined → its opening counts, and has a hold that knows the site', () => {
  const origins = Origins.create(['ireland'], ['us']);
  origins.add({ site: 'frankfurt', incarnation: 1, state: 'joining' });
  const order = new RedOrder({ origins, partitions: PARTITIONS }, {} as SiteState, US, ORDER_PARTS);
  const lost = { ...global('lost/1', MAIN, { writes: ['us/x'] }), snapshot: [0, 0, 0, 0] };
  const opening = {
    kind: 'opening',
    id: 'ireland-0-1.opening/2',
    site: SITE,
    partition: US,
    stamp: 40,
  } as const;
  order.deliver({ ...opening, holds: [{ operation: lost, stamp: 9 }] });
  expect(order.waiting[0]?.decision).toEqual({
    kind: 'open',
    stamp: 40,
    restated: [getExecutionName(lost)],
  });
});

describe('a hold is granted at its place, or refused', () => {
  // @rule PART-G6
  test('if a row that it reads was written after the snapshot, it is refused (G6)', () => {
    const log = new Log();
    log.record(operation('a/1', { writes: ['x'] }));
    const late = global('g/1', US, { reads: ['x'], snapshot: 0 });
    expect(log.hold(late)).toMatchObject({
      kind: 'refuse',
      conflict: { reason: 'name', name: toName('x') },
    });
    expect(log.hold(global('h/1', US, { reads: ['x'], snapshot: 1 }))).toEqual({
      kind: 'grant',
      stamp: 3,
    });
  });

  test('a write without a read is granted on any snapshot within the window', () => {
    const log = new Log();
    log.record(operation('a/1', { writes: ['x'] }));
    expect(log.hold(global('g/1', US, { writes: ['x'] }))).toMatchObject({ kind: 'grant' });
  });

  // @rule PART-G7
  test.each<[string, Rows, Rows, boolean]>([
    ['both read', { reads: ['x'] }, { reads: ['x'] }, false],
    ['one reads what the first one writes', { writes: ['x'] }, { reads: ['x'] }, true],
    ['one writes what the first one reads', { reads: ['x'] }, { writes: ['x'] }, true],
    ['both write', { writes: ['x'] }, { writes: ['x'] }, true],
    ['rows differ', { writes: ['x'] }, { writes: ['y'] }, false],
    ['they meet in another partition', { writes: ['us/x', 'y'] }, { writes: ['us/x', 'x'] }, false],
  ])('%s', (_, first, second, overlaps) => {
    const log = new Log();
    log.hold(global('g/1', US, first));
    expect(log.hold(global('h/1', US, second)).kind).toBe(overlaps ? 'refuse' : 'grant');
    // The same for a local.
    const other = new Log();
    other.hold(global('g/1', US, first));
    expect(other.record(operation('a/1', { ...second, snapshot: 9 })).kind).toBe(
      overlaps ? 'reject' : 'commit',
    );
  });

  test('two new rows of one table do not overlap, but a scan of the table overlaps each', () => {
    const log = new Log();
    const create = (id: string, key: string): GlobalOperation => ({
      ...global(id, US, { writes: [key] }),
      created: [`rows\u0000${key}`],
    });
    log.hold(create('g/1', 'x'));
    expect(log.hold(create('h/1', 'y'))).toMatchObject({ kind: 'grant' });
    const scan = { ...operation('a/1', { snapshot: 9 }), reads: [toTableName('rows')] };
    expect(log.record(scan)).toMatchObject({
      kind: 'reject',
      conflict: { reason: 'held', name: 'rows' },
    });
    const range = { ...operation('b/1', { snapshot: 9 }), ranges: [{ table: 'rows', from: 'y' }] };
    expect(log.record(range)).toMatchObject({ kind: 'reject', conflict: { reason: 'held' } });
  });

  test('only the first hold of an execution counts, also if what it met has gone (G8d)', () => {
    const log = new Log();
    const first = global('g/1', US, { writes: ['x'] });
    const second = global('h/1', US, { writes: ['x'] });
    log.hold(first);
    expect(log.hold(first)).toEqual({ kind: 'void' });
    log.hold(second);
    log.release(first);
    expect(log.hold(second)).toEqual({ kind: 'void' });
    expect(log.hold(first)).toEqual({ kind: 'void' });
    expect(log.hold({ ...second, attempt: 2 })).toMatchObject({ kind: 'grant' });
  });

  test('a late hold is refused once its end is forgotten', () => {
    const log = new Log(MAIN, 2);
    const item = global('g/1', US, { writes: ['x'] });
    log.hold(item);
    log.release(item);
    log.fill(3);
    expect(log.hold(item)).toMatchObject({ kind: 'refuse', conflict: { reason: 'window' } });
  });
});

describe('a release', () => {
  // @rule PART-G8a
  test('counts as the writing of the rows that were held, above the stamp of the global (G8a)', () => {
    const log = new Log();
    const item = global('g/1', US, { reads: ['y'], writes: ['x', 'us/z'] });
    log.hold(item);
    expect(log.release(item, 40)).toEqual({ kind: 'release', stamp: 41 });
    expect(log.record(operation('a/1', { reads: ['x'], snapshot: 40 })).kind).toBe('reject');
    expect(log.record(operation('b/1', { reads: ['y', 'us/z'], snapshot: 40 })).kind).toBe(
      'commit',
    );
    expect(log.record(operation('c/1', { reads: ['x'], snapshot: 41 })).kind).toBe('commit');
  });

  test('of a global that did not commit writes nothing', () => {
    const log = new Log();
    const item = global('g/1', US, { writes: ['x'] });
    log.hold(item);
    expect(log.release(item)).toEqual({ kind: 'release', stamp: 2 });
    expect(log.release(item)).toEqual({ kind: 'void' });
    expect(log.record(operation('a/1', { reads: ['x'] })).kind).toBe('commit');
  });
});

describe('in the home log the first of record and abort counts', () => {
  const item = global('g/1', MAIN, { writes: ['x', 'us/y'] });

  test('the record: its stamp is above those of its holds', () => {
    const log = new Log();
    expect(log.record({ ...item, holds: [[US, 70]] })).toEqual({ kind: 'commit', stamp: 71 });
    expect(log.abort(item)).toEqual({ kind: 'void' });
    expect(log.record({ ...item, holds: [[US, 70]] })).toEqual({ kind: 'void' });
    expect(log.record({ ...item, attempt: 2 })).toEqual({ kind: 'void', stamp: 72 });
  });

  // @rule PART-G8d
  test('the abort, for as long as the window goes back, and longer by the window (G8d)', () => {
    const log = new Log(MAIN, 2);
    expect(log.abort(item)).toEqual({ kind: 'abort', stamp: 1 });
    expect(log.record(item)).toEqual({ kind: 'void' });
    log.fill(3);
    expect(log.record(item)).toMatchObject({ kind: 'reject', conflict: { reason: 'window' } });
  });

  test('a rejection is as final as an abort', () => {
    const log = new Log();
    const other = global('h/1', US, { writes: ['x'] });
    log.hold(other);
    expect(log.record(item)).toMatchObject({
      kind: 'reject',
      stamp: 2,
      conflict: { reason: 'held', execution: getExecutionName(other) },
    });
    log.release(other);
    expect(log.record(item)).toEqual({ kind: 'void' });
    expect(log.certifier.holds.getEnd(getExecutionName(item))?.how).toBe('never');
  });

  // Without the stamp of the decision, sites do not know that the log has got there, and read
  // nothing in it any more.
  test('an operation that was closed cannot commit, and its holds end at a stamp', () => {
    const log = new Log(MAIN, 1);
    log.certifier.decide({
      kind: 'close',
      id: 'g/1',
      site: SITE,
      failure: { code: 'CONFLICT', message: '' },
    });
    expect(log.record(item)).toEqual({ kind: 'void', stamp: 1 });
    expect(log.certifier.holds.getEnd(getExecutionName(item))?.how).toBe('never');
    expect(log.record({ ...item, attempt: 2 })).toEqual({ kind: 'void', stamp: 2 });
    expect(log.record(operation('a/1', { reads: ['x'], snapshot: 0 })).kind).toBe('reject');
    expect(log.record(operation('a/1', { reads: ['x'], snapshot: 2 })).kind).toBe('commit');
  });
});

test('a checkpoint has the holds that stand, and the ends that are remembered (G8g)', () => {
  const log = new Log();
  const held = global('g/1', US, { writes: ['x'] });
  const refused = global('h/1', US, { writes: ['x'] });
  const aborted = global('i/1', MAIN, { writes: ['y'] });
  log.hold(held);
  log.hold(refused);
  log.abort(aborted);
  const { certifier } = log;
  const saved = Object.entries(certifier.sections).map(
    ([name, section]) => [name, structuredClone(saveAll(section))] as const,
  );

  const restored = new Log();
  restored.certifier.load(structuredClone(certifier.save()));
  for (const [name, rows] of saved) restored.certifier.sections[name]?.restore(new Map(rows));
  expect(restored.hold(held)).toEqual({ kind: 'void' });
  expect(restored.hold(refused)).toEqual({ kind: 'void' });
  expect(restored.record(aborted)).toEqual({ kind: 'void' });
  expect(restored.record(operation('a/1', { writes: ['x'] })).kind).toBe('reject');
  expect(restored.release(held, 10)).toEqual({ kind: 'release', stamp: 11 });
});

test('a hold that has ended leaves the next changes of a checkpoint', () => {
  const log = new Log(MAIN, 1);
  const item = global('g/1', US, { writes: ['x'] });
  const { holds } = log.certifier;
  saveAll(holds);
  log.hold(item);
  expect(saveChanges(holds)).toEqual([[getExecutionName(item), [1, item]]]);
  log.release(item);
  expect(saveChanges(holds)).toEqual([[getExecutionName(item), [2, 'released']]]);
  log.fill(2);
  expect(saveChanges(holds)).toEqual([[getExecutionName(item), undefined]]);
});

test('a global whose client needs it no more is expired, and its record ends its request', () => {
  const log = new Log();
  log.record(operation('ann/8', { writes: ['c'] }));
  log.record({ ...operation('ann/9', { writes: ['c'] }), acknowledged: 5 });
  const late = global('ann/1', MAIN, { writes: ['a', 'us/b'] });
  expect(log.record(late)).toMatchObject({ kind: 'expired' });
  expect(log.certifier.holds.getEnd(getExecutionName(late))?.how).toBe('never');
});
