/** What a certifier forgets, and what it must not forget with it. */
import { describe, expect, test } from 'vitest';
import { Certifier } from '../../../../../../src/server/site/lane/order/certifier.ts';
import type { Effect } from '../../../../../../src/server/service/records/effect.ts';
import { toFieldName, toRowName } from '../../../../../../src/server/service/generator/read-set.ts';
import { measurePlainData } from '../../../../../../src/values/estimate-bytes.ts';
import type { RedOperation } from '../../../../../../src/server/service/records/records.ts';
import { siteAt } from '../../../../../support/origins.ts';
import { saveAll, saveChanges } from '../../../../../support/saved-rows.ts';

const LIMITS = { maxWindowCommits: 2, maxOutcomes: { maxOperations: 2, maxClients: 10 } };
const write = (key: string): Effect => ({ table: 't', key, field: 'f', action: 'add', value: 1 });

function operation(id: string, details: Partial<RedOperation> = {}): RedOperation {
  const parts = {
    site: siteAt(0),
    operation: 'o',
    attempt: 1,
    epoch: 1,
    snapshot: [0, 0],
    reads: [],
    clock: 1,
  };
  return { kind: 'operation', id, effects: [], reply: { value: null }, ...parts, ...details };
}

describe('certifier: memory', () => {
  test('field written twice, the first write leaves the window → the second one is remembered', () => {
    const certifier = new Certifier(LIMITS);
    certifier.decide(operation('a/1', { effects: [write('k')] }));
    certifier.decide(operation('b/1', { effects: [write('k')] }));
    certifier.decide(operation('d/1', { effects: [write('other')] }));
    const late = operation('e/1', { reads: [toFieldName('t', 'k', 'f')], snapshot: [1, 0] });
    expect(certifier.decide(late)).toMatchObject({ kind: 'reject' });
  });

  test('an identifier behind its watermark → expired, so that a late resend gets an error', () => {
    const certifier = new Certifier(LIMITS);
    certifier.decide(operation('a/1'));
    certifier.decide(operation('a/2', { acknowledged: 1 }));
    expect(certifier.decide(operation('a/1'))).toEqual({ kind: 'expired' });
  });

  test('commit that leaves the window → leaves the checkpoint as well', () => {
    const certifier = new Certifier(LIMITS);
    certifier.decide(operation('a/1', { effects: [write('k')] }));
    certifier.decide(operation('b/1', { effects: [write('k')] }));
    expect(saveAll(certifier).map(([stamp]) => stamp)).toEqual(['1', '2']);
    certifier.decide(operation('d/1', { effects: [write('k')] }));
    certifier.decide(operation('e/1', { effects: [write('k')] }));
    const gone = saveChanges(certifier).filter(([, saved]) => saved === undefined);
    expect(gone.map(([stamp]) => stamp).toSorted()).toEqual(['1', '2']);
  });

  test('a window of so many bytes → keeps as many commits as go into it', () => {
    const maxWindowBytes = 3 * measurePlainData([write('k')]);
    const certifier = new Certifier({ ...LIMITS, maxWindowCommits: 100, maxWindowBytes });
    for (let n = 1; n <= 10; n += 1)
      certifier.decide(operation(`${n}/1`, { effects: [write('k')] }));
    const reading = (id: string, snapshot: number): RedOperation =>
      operation(id, { reads: [toFieldName('t', 'other', 'f')], snapshot: [snapshot, 0] });
    expect(certifier.decide(reading('late/1', 6))).toMatchObject({ kind: 'reject' });
    expect(certifier.decide(reading('in time/1', 7))).toMatchObject({ kind: 'commit' });
  });

  test('restart → rows that a commit created are known, so that scans conflict with them', () => {
    const [before, after] = [new Certifier(), new Certifier()];
    before.decide(operation('a/1', { effects: [write('k')], created: [toRowName('t', 'k')] }));
    after.load(before.save());
    after.restore(new Map(saveAll(before)));
    expect(after.decide(operation('b/1', { ranges: [{ table: 't' }] }))).toMatchObject({
      kind: 'reject',
    });
  });

  test('restart → stamps go on behind the last one, though clocks are behind it', () => {
    const before = new Certifier(LIMITS);
    before.decide(operation('a/1', { clock: 5000 }));
    const after = new Certifier(LIMITS);
    after.load(before.save());
    expect(after.decide(operation('b/1', { clock: 10 }))).toEqual({ kind: 'commit', stamp: 5001 });
  });
});
