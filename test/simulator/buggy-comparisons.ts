/** Sites that diverge, and comparisons of rows that each break one rule. */
import { isRemoval, type Effect } from '../../src/server/service/records/effect.ts';
import { RowDigests } from '../../src/server/service/state/row-digests.ts';
import { RowComparisons } from '../../src/server/site/parts/row-comparisons.ts';
import { SiteState } from '../../src/server/site/core/site-state.ts';
import type { RunParts } from '../../src/testing/simulator/run-parts.ts';
import { replaceMethods } from '../support/replace-methods.ts';

/** The ordinal of the site that does not apply all effects of the others. */
const DIVERGING = 2;

const createDivergingState = (isLost: (effect: Effect) => boolean): typeof SiteState =>
  replaceMethods(SiteState, (original, _service, _origins, options = {}) => ({
    applyBlue: (operation) => {
      const isHit = options.site === DIVERGING && operation.site !== DIVERGING;
      const effects = operation.effects.filter((effect) => !(isHit && isLost(effect)));
      original.applyBlue({ ...operation, effects });
    },
  }));

/** The tables of the roster from which rows are removed. */
const REMOVABLE = ['doctors', 'rooms', 'beds'];

type RemovalTimes = readonly (readonly [table: string, removals: readonly [string, number[]][]])[];

export const BUGGY_COMPARISONS = {
  lostEffects: { SiteState: createDivergingState(() => true) },

  /** A saved row has the stamp of its last removal beside it, as long as its site remembers that. */
  savedBytes: {
    RowDigests: replaceMethods(RowDigests, (original, store) => ({
      digest: (table, key) => {
        const tables = store.getRemovalTimes() as RemovalTimes;
        const removals = tables.find(([name]) => name === table)?.[1] ?? [];
        const [, at = [0]] = removals.find(([name]) => name === key) ?? [];
        return (original.digest(table, key) + (at.at(-1) ?? 0)) % 2 ** 52;
      },
    })),
  },

  /** A row that was removed meanwhile counts as unchanged. */
  unnotedRemovals: {
    RowComparisons: replaceMethods(RowComparisons, (original) => ({
      noteChange: (effect, stamp) => {
        if (!isRemoval(effect)) original.noteChange(effect, stamp);
      },
    })),
  },

  /** A site misses removals, and nothing is compared in tables that have some. */
  withoutRemovals: {
    SiteState: createDivergingState(isRemoval),
    RowDigests: replaceMethods(RowDigests, (original) => ({
      collect: (range) =>
        REMOVABLE.includes(range.table) ? new Map<string, number>() : original.collect(range),
    })),
  },

  lostRemovals: { SiteState: createDivergingState(isRemoval) },
} satisfies Readonly<Record<string, Partial<RunParts>>>;
