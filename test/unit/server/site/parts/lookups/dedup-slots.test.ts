/**
 * Decided slots in checkpoints: those that count, each as it is by then, and no later entry of the
 * log over them.
 */
import { expect, test } from 'vitest';
import type { SavedRow, Section } from '../../../../../../src/server/service/records/checkpoint.ts';
import type { SlotDecision } from '../../../../../../src/server/service/records/records.ts';
import { EXPIRED } from '../../../../../../src/server/site/parts/lookups/id-table.ts';
import { DedupSlots } from '../../../../../../src/server/site/parts/lookups/dedup-slots.ts';
import { measurePlainData } from '../../../../../../src/values/estimate-bytes.ts';
import { siteAt } from '../../../../../support/origins.ts';
import { saveAll, saveChanges } from '../../../../../support/saved-rows.ts';

const ID = 'c1/1';
const claim = (hop: number): SlotDecision => ({ kind: 'claim', site: siteAt(1), hop });
const record: SlotDecision = { kind: 'record', reply: { value: 7 }, vector: [1, 0] };

/** A folder of checkpoints: all that was saved so far, and a site that starts with that. */
class Saved {
  readonly #sections: Readonly<Record<string, Section>>;
  readonly #rows = new Map<string, Map<string, unknown>>();

  constructor(slots: DedupSlots) {
    this.#sections = slots.sections;
    this.#cut(saveAll);
  }

  cut(): void {
    this.#cut(saveChanges);
  }

  #cut(save: (section: Section) => readonly SavedRow[]): void {
    for (const [name, section] of Object.entries(this.#sections)) {
      const rows = this.#rows.get(name) ?? new Map<string, unknown>();
      for (const [row, value] of save(section)) {
        if (value === undefined) rows.delete(row);
        else rows.set(row, value);
      }
      this.#rows.set(name, rows);
    }
  }

  start(): DedupSlots {
    const again = new DedupSlots();
    for (const [name, section] of Object.entries(again.sections))
      section.restore(this.#rows.get(name) ?? new Map());
    return again;
  }
}

function decisionsIn(slots: DedupSlots, hops: readonly number[]): unknown[] {
  return hops.map((hop) => {
    const slot = slots.find(ID, hop);
    return slot === EXPIRED ? 'expired' : slot?.decision;
  });
}

test('a slot whose entry is not synced → not saved: the log may lose it; saved once it is', () => {
  const slots = new DedupSlots();
  const saved = new Saved(slots);
  const slot = slots.decide(ID, 0, record);
  saved.cut();
  expect(decisionsIn(saved.start(), [0])).toEqual([undefined]);
  slots.finalize(ID, slot);
  saved.cut();
  expect(decisionsIn(saved.start(), [0])).toEqual([record]);
});

test('slots of one operation at several hops → all are saved, but for those that do not count', () => {
  const slots = new DedupSlots();
  const saved = new Saved(slots);
  for (const hop of [1, 2]) slots.finalize(ID, slots.decide(ID, hop, claim(hop + 1)));
  slots.decide(ID, 3, record);
  saved.cut();
  expect(decisionsIn(saved.start(), [1, 2, 3])).toEqual([claim(2), claim(3), undefined]);
});

test('an entry of the log behind the checkpoint, of a slot that is decided → void', () => {
  const slots = new DedupSlots();
  slots.finalize(ID, slots.decide(ID, 0, record));
  const again = new Saved(slots).start();
  again.restore(ID, 0, { kind: 'handover' });
  again.restore(ID, 1, { kind: 'handover' });
  expect(decisionsIn(again, [0, 1])).toEqual([record, { kind: 'handover' }]);
});

test.each<SlotDecision>([
  record,
  { kind: 'record', reply: { value: undefined }, vector: [1, 0, 5] },
  {
    kind: 'record',
    reply: { value: { text: 'é', list: [1, null] }, meta: { left: 2 } },
    vector: [],
  },
  { kind: 'record', failure: { code: 'FINAL_FAILED', message: 'no' }, vector: [1, 0] },
  claim(1),
  { kind: 'handover' },
])('%j counts as many bytes as it takes', (decision) => {
  const slots = new DedupSlots();
  slots.decide(ID, 0, decision);
  expect(slots.retainedReplies.bytes).toBe(measurePlainData(decision));
});
