/**
 * Certification decides by the log's prefix: what conflicts, what does not, and what is remembered.
 */
// @rule RB-R1, RB-R2, RB-R3
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Certifier } from '../../../../../../src/server/site/lane/order/certifier.ts';
import {
  type Effect,
  createRemoveEffect,
} from '../../../../../../src/server/service/records/effect.ts';
import type { ReadRange } from '../../../../../../src/server/service/records/read-range.ts';
import { toFieldName, toRowName } from '../../../../../../src/server/service/generator/read-set.ts';
import type { RedOperation } from '../../../../../../src/server/service/records/records.ts';
import { siteAt } from '../../../../../support/origins.ts';
import {
  onceEach,
  sharesOf,
  testShares,
  unnoted,
  type Note,
} from '../../../../../support/property-shares.ts';
import { scaleRuns } from '../../../../../support/lane.ts';
import { saveAll } from '../../../../../support/saved-rows.ts';

const write = (key: string): Effect => ({ table: 't', key, field: 'f', action: 'add', value: 1 });
let ids = 0;

function operation(readStamp: number, details: Partial<RedOperation> = {}): RedOperation {
  ids += 1;
  const id = `o/${ids}`;
  return {
    kind: 'operation',
    id,
    site: siteAt(0),
    operation: 'o',
    attempt: 1,
    epoch: 1,
    snapshot: [readStamp, 0],
    reads: [],
    clock: 1,
    effects: [],
    reply: { value: null },
    ...details,
  };
}

describe('certifier', () => {
  test('commit stamps: grow by one, or to the clock of the proposer', () => {
    const certifier = new Certifier();
    const decide = (clock: number): unknown => certifier.decide(operation(0, { clock }));
    expect([decide(5), decide(3), decide(100), decide(100)]).toEqual(
      [5, 6, 100, 101].map((stamp) => ({ kind: 'commit', stamp })),
    );
  });

  test('read field written after the stamp that was read → reject, and no stamp is taken', () => {
    const certifier = new Certifier();
    certifier.decide(operation(0, { effects: [write('k')] }));
    const reads = [toFieldName('t', 'k', 'f')];
    expect(certifier.decide(operation(0, { reads }))).toEqual({
      kind: 'reject',
      conflict: { reason: 'name', name: expect.any(String) as string },
    });
    expect(certifier.decide(operation(1, { reads }))).toEqual({ kind: 'commit', stamp: 2 });
  });

  test('several of what was read were written → the first is named, and the others', () => {
    const [k, l, m] = ['k', 'l', 'm'].map((key) => toFieldName('t', key, 'f')) as [
      string,
      string,
      string,
    ];
    const certifier = new Certifier();
    for (const key of ['m', 'k']) certifier.decide(operation(0, { effects: [write(key)] }));
    const conflict = { reason: 'name', name: k, others: [m] };
    expect(certifier.decide(operation(0, { reads: [l, k, m] }))).toEqual({
      kind: 'reject',
      conflict,
    });
  });

  test('a row is created → conflict with each operation that missed it; if it is only written → no conflict', () => {
    const certifier = new Certifier();
    certifier.decide(operation(0, { effects: [write('new')], created: [toRowName('t', 'new')] }));
    certifier.decide(operation(0, { effects: [write('old')] }));
    const decide = (name: string): string => certifier.decide(operation(0, { reads: [name] })).kind;
    expect(decide(toRowName('t', 'new'))).toBe('reject');
    expect(decide(toRowName('t', 'old'))).toBe('commit');
    expect(decide(toRowName('t', 'other'))).toBe('commit');
    expect(decide(toFieldName('t', 'old', 'f'))).toBe('reject');
    expect(decide(toFieldName('t', 'other', 'f'))).toBe('commit');
  });

  test('scan: a row that came or went inside it → reject; outside it → commit', () => {
    const decideAfter = (change: Partial<RedOperation>, range: ReadRange): string => {
      const certifier = new Certifier();
      certifier.decide(operation(0, change));
      return certifier.decide(operation(0, { ranges: [range] })).kind;
    };
    const created = { effects: [write('m')], created: [toRowName('t', 'm')] };
    expect(decideAfter(created, { table: 't' })).toBe('reject');
    expect(decideAfter(created, { table: 't', from: 'm', before: 'n' })).toBe('reject');
    expect(decideAfter(created, { table: 't', from: 'a', upTo: 'm' })).toBe('reject');
    expect(decideAfter(created, { table: 't', before: 'm' })).toBe('commit');
    expect(decideAfter(created, { table: 'other' })).toBe('commit');
    expect(decideAfter({ effects: [write('m')] }, { table: 't' })).toBe('commit');
    expect(
      decideAfter({ effects: [createRemoveEffect('t', 'm')] }, { table: 't', from: 'm' }),
    ).toBe('reject');
  });

  test('scan of an index: a value that came into it → reject, even of a row that was there', () => {
    const certifier = new Certifier();
    const owner = (value: string): Effect => ({
      table: 't',
      key: 'k',
      field: 'owner',
      action: 'write',
      value,
    });
    certifier.decide(operation(0, { effects: [owner('bob')] }));
    const decide = (range: Partial<ReadRange>): string =>
      certifier.decide(operation(0, { ranges: [{ table: 't', field: 'owner', ...range }] })).kind;
    expect(decide({ from: 'bob', upTo: 'bob' })).toBe('reject');
    expect(decide({ from: 'carl' })).toBe('commit');
    expect(decide({ field: 'other' })).toBe('commit');
  });

  test('repeated id → void; closed id → void for ever', () => {
    const failure = { code: 'CONFLICT', message: 'no' } as const;
    const certifier = new Certifier();
    const once = operation(0);
    expect(certifier.decide(once).kind).toBe('commit');
    expect(certifier.decide(once).kind).toBe('void');
    expect(certifier.decide({ kind: 'close', id: once.id, site: siteAt(0), failure }).kind).toBe(
      'void',
    );
    expect(certifier.decide({ kind: 'close', id: 'other/1', site: siteAt(0), failure }).kind).toBe(
      'closed',
    );
    expect(certifier.decide(operation(0, { id: 'other/1' })).kind).toBe('void');
    expect(certifier.getOutcome('other/1')).toBe('conflict');
  });

  const windowed = (note: Note): fc.IRawProperty<unknown> => {
    const maxOutcomes = { maxOperations: 1000, maxClients: 1000 };
    const key = fc.constantFrom('a', 'b', 'c');
    const step = fc.record({ written: key, read: key, age: fc.nat(6), isScan: fc.boolean() });
    return fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(step, { maxLength: 40 }),
      (maxWindowCommits, steps) => {
        const once = onceEach(note);
        const small = new Certifier({ maxWindowCommits, maxOutcomes });
        const all = new Certifier({ maxWindowCommits: 1000, maxOutcomes });
        let commits = 0;
        for (const { written, read, age, isScan } of steps) {
          const snapshot = Math.max(0, commits - age);
          const created = isScan ? [toRowName('t', written)] : [];
          const requested = isScan
            ? { ranges: [{ table: 't', from: read, upTo: read }] }
            : { reads: [toFieldName('t', read, 'f')] };
          const record = operation(snapshot, { ...requested, effects: [write(written)], created });
          const { kind } = small.decide(record);
          if (snapshot < commits - maxWindowCommits) {
            expect(kind).toBe('reject');
            once('a snapshot older than the window');
            continue;
          }
          expect(kind).toBe(all.decide(record).kind);
          if (kind === 'commit') commits += 1;
          else
            once(
              isScan
                ? 'a scan is rejected within the window'
                : 'a read is rejected within the window',
            );
        }
        if (commits > 2 * maxWindowCommits) once('the window has moved by more than itself');
      },
    );
  };

  test('any commits, whatever window → as without one where the snapshot lies within, rejected where it does not', async () => {
    await fc.assert(windowed(unnoted), { numRuns: scaleRuns(500) });
  });

  testShares(
    'the commits → the window moves, and rejections lie on both sides of it, in most runs',
    async () => {
      const shares = await sharesOf(windowed, 300);
      for (const description of [
        'a snapshot older than the window',
        'a scan is rejected within the window',
        'a read is rejected within the window',
        'the window has moved by more than itself',
      ]) {
        expect(shares[description], description).toBeGreaterThan(0.5);
      }
    },
  );

  test('more bytes than the window may have → its oldest commits go, the latest stays; after a restart as well', () => {
    const limits = {
      maxWindowCommits: 100,
      maxWindowBytes: 1000,
      maxOutcomes: { maxOperations: 100, maxClients: 10 },
    };
    const certifier = new Certifier(limits);
    const large = (key: string): Effect => ({ ...write(key), value: 'x'.repeat(200) });
    for (let count = 0; count < 3; count += 1)
      certifier.decide(operation(0, { effects: [large('k')] }));
    const reads = [toFieldName('t', 'never written', 'f')];
    const rows = JSON.parse(
      JSON.stringify(saveAll(certifier).filter(([, saved]) => saved !== undefined)),
    );
    const again = new Certifier(limits);
    again.load(certifier.save());
    again.restore(new Map(rows));
    for (const item of [certifier, again]) {
      expect(item.decide(operation(0, { reads, id: 'old/1' })).kind).toBe('reject');
      expect(item.decide(operation(2, { reads, id: 'new/1' })).kind).toBe('commit');
      item.decide(operation(0, { effects: [large('k')], id: 'next/1' }));
      expect(item.decide(operation(2, { reads, id: 'new/2' })).kind).toBe('reject');
    }
  });
});

describe('what stands on others', () => {
  const FIELD = [toFieldName('t', 'k', 'f')];
  const START = { site: siteAt(1), epoch: 7 };
  const executed = (id: string, details: Partial<RedOperation> = {}): RedOperation =>
    operation(0, { id, ...START, reads: FIELD, effects: [write('k')], ...details });
  const STANDING = { dependencies: [['a/1', 1]] as const };
  const decisionOf = (certifier: Certifier, record: RedOperation): unknown => {
    const decision = certifier.decide(record);
    return decision.kind === 'reject' ? decision.conflict?.reason : decision.kind;
  };

  test('the named execution has committed → commit, though it has written what was read', () => {
    const certifier = new Certifier();
    certifier.decide(executed('a/1'));
    expect(decisionOf(certifier, executed('b/1'))).toBe('name');
    expect(decisionOf(certifier, executed('c/1', STANDING))).toBe('commit');
  });

  test('it has not, or as another execution, of another start or site → reject', () => {
    for (const committed of [
      executed('other/1', { reads: [], effects: [] }),
      executed('a/1', { attempt: 2 }),
      executed('a/1', { epoch: 6 }),
      executed('a/1', { site: siteAt(2) }),
    ]) {
      const certifier = new Certifier();
      certifier.decide(committed);
      expect(decisionOf(certifier, executed('c/1', STANDING))).toBe('predecessor');
    }
  });

  test('another commit has written what was read, before, between or behind them → reject', () => {
    const [a, c] = [
      executed('a/1', { reads: [] }),
      executed('c/1', {
        dependencies: [
          ['a/1', 1],
          ['b/1', 1],
        ],
      }),
    ];
    const b = executed('b/1', { reads: [] });
    const foreign = executed('x/1', { site: siteAt(2), reads: [] });
    for (const place of [0, 1, 2]) {
      const certifier = new Certifier();
      for (const item of [a, b].toSpliced(place, 0, foreign)) certifier.decide(item);
      expect(decisionOf(certifier, c)).toBe('name');
    }
  });

  test('others have written several of what was read → all are named, but for what those wrote that it stands on', () => {
    const [k, l, m] = ['k', 'l', 'm'].map((key) => toFieldName('t', key, 'f')) as [
      string,
      string,
      string,
    ];
    const certifier = new Certifier();
    const foreign = { site: siteAt(2), reads: [] };
    certifier.decide(executed('x/1', { ...foreign, effects: [write('m')] }));
    certifier.decide(executed('a/1', { reads: [] }));
    certifier.decide(executed('y/1', { ...foreign, effects: [write('l')] }));
    const decision = certifier.decide(executed('c/1', { reads: [k, m, l], ...STANDING }));
    expect(decision).toEqual({
      kind: 'reject',
      conflict: { reason: 'name', name: m, others: [l] },
    });
  });

  test('a row that came into what was scanned → reject, unless by what is named', () => {
    const brings = (id: string, details: Partial<RedOperation> = {}): RedOperation =>
      executed(id, { reads: [], created: [toRowName('t', 'k')], ...details });
    const scans = executed('c/1', { reads: [], ranges: [{ table: 't' }], ...STANDING });
    const [item, other] = [new Certifier(), new Certifier()];
    for (const certifier of [item, other]) certifier.decide(brings('a/1'));
    other.decide(brings('x/1', { site: siteAt(2) }));
    expect(decisionOf(item, scans)).toBe('commit');
    expect(decisionOf(other, scans)).toBe('range');
  });

  test('what the named ones stood on needs no name, in the snapshot or not; of another start as well', () => {
    const certifier = new Certifier();
    certifier.decide(executed('a/1'));
    certifier.decide(executed('b/1', STANDING));
    const standing = { dependencies: [['b/1', 1]] as const };
    expect(decisionOf(certifier, executed('c/1', standing))).toBe('commit');
    expect(
      decisionOf(certifier, executed('d/1', { ...standing, snapshot: [1, 0], reads: [] })),
    ).toBe('commit');
  });

  test('after a restart → decided alike', () => {
    const limits = { maxWindowCommits: 100, maxOutcomes: { maxOperations: 100, maxClients: 10 } };
    const certifier = new Certifier(limits);
    certifier.decide(executed('a/1'));
    certifier.decide(executed('b/1', STANDING));
    const rows = JSON.parse(JSON.stringify(saveAll(certifier))) as [string, unknown][];
    const again = new Certifier(limits);
    again.load(certifier.save());
    again.restore(new Map(rows));
    expect(decisionOf(again, executed('c/1', { dependencies: [['b/1', 1]] }))).toBe('commit');
  });

  test('a snapshot older than the window → reject', () => {
    const certifier = new Certifier({
      maxWindowCommits: 1,
      maxOutcomes: { maxOperations: 10, maxClients: 10 },
    });
    certifier.decide(executed('a/1', { reads: [] }));
    certifier.decide(executed('b/1', { reads: [] }));
    expect(decisionOf(certifier, executed('c/1', { dependencies: [['b/1', 1]] }))).toBe('window');
  });
});
