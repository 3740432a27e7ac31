/** Rights of a closed site are listed a few rows at a time, however many there are. */
// @rule STO-45
import { expect, test } from 'vitest';
import { Origins } from '../../../../../../src/server/service/records/origin.ts';
import type { LostRight } from '../../../../../../src/server/site/site-event.ts';
import type { SiteCore } from '../../../../../../src/server/site/core/site-core.ts';
import { LostRights } from '../../../../../../src/server/site/parts/rights/lost-rights.ts';
import { boundedCounter, register, table } from '../../../../../../src/server/service/tables.ts';

const KEYS = Array.from({ length: 1200 }, (_, n) => `e${String(n).padStart(4, '0')}`);

test('1200 rows → three turns, and one report that has each row once', () => {
  const origins = Origins.create(['ireland', 'virginia']);
  const virginia = origins.find('virginia')!;
  const reported: (readonly LostRight[])[] = [];
  let reads = 0;
  const core = {
    nowMs: 7,
    options: {
      origins: {
        closed: [],
        get: () => ({ final: { stamp: 3 } }),
      },
      service: {
        tables: {
          notes: table({ text: register<string>() }),
          events: table({ seats: boundedCounter({ min: 0 }) }),
        },
      },
    },
    state: {
      stable: [],
      store: {
        *scan({ from = '' }: { readonly from?: string }) {
          for (const key of KEYS) if (key >= from) yield { value: key, key };
        },
        read: () => {
          reads += 1;
          return { getHolding: () => 2 };
        },
      },
    },
    outputs: { report: ({ lost }: { lost: readonly LostRight[] }) => reported.push(lost) },
  };
  const rights = new LostRights(core as unknown as SiteCore);
  Object.assign(core.options.origins, { closed: [virginia] });
  rights.onMembersChanged();
  // Its last operation is not applied.
  rights.settle();
  expect(rights).toMatchObject({ isDue: true, wakeAtMs: undefined });
  Object.assign(core.state, { stable: Array.from({ length: virginia + 1 }, () => 3) });
  rights.settle();
  expect(rights).toMatchObject({ isDue: true, wakeAtMs: 7 });
  expect(reads).toBe(500);
  rights.settle();
  expect(reported).toEqual([]);
  rights.settle();
  expect(rights).toMatchObject({ isDue: false, wakeAtMs: undefined });
  expect(reported.map((lost) => lost.map(({ key }) => key))).toEqual([KEYS]);
  expect(reads).toBe(KEYS.length);
});
