/** Parts of sites that each break one rule of rights (docs/spec/rights.md). */
import type { Ledger } from '../../src/server/service/fields/ledger.ts';
import { SiteState } from '../../src/server/site/core/site-state.ts';
import { RightsRequests } from '../../src/server/site/parts/rights/rights-requests.ts';
import { Rights } from '../../src/server/site/parts/rights/rights.ts';
import type { RunParts } from '../../src/testing/simulator/run-parts.ts';
import { replaceArguments, replaceMethods } from '../support/replace-methods.ts';

/** Transfers of others take effect so many times. */
const repeatTransfers = (times: number): typeof SiteState =>
  replaceMethods(SiteState, (original, _service, _origins, options) => ({
    applyBlue: (operation) => {
      if (operation.site === options?.site) return original.applyBlue(operation);
      const effects = operation.effects.flatMap((effect) =>
        effect.action === 'transfer' ? Array.from({ length: times }, () => effect) : [effect],
      );
      original.applyBlue({ ...operation, effects });
    },
  }));

/** By name. */
export const BUGGY_RIGHTS = {
  /** Decides by what is applied: its own takes that are not synced it does not see. */
  forgetful: {
    Rights: replaceMethods(Rights, (_, { state, options }) => ({
      mayTake: ({ table, key, field, amount }) =>
        amount <= (state.store.read(table, key, field) as Ledger).getHolding(options.site),
    })),
  },

  /** A red take draws on all rights, whichever site holds them. */
  greedy: {
    Rights: replaceMethods(Rights, () => ({
      getPool: ({ table, key, field }, state) => (state.read(table, key, field) as Ledger).left,
    })),
  },

  /** What it has asked once it never asks again before something comes. */
  patient: {
    RightsRequests: replaceArguments(RightsRequests, (options) => [
      { ...options, resendAfterMs: Infinity },
    ]),
  },

  /** Does not look at what waits for rights when some have come. */
  sleeping: {
    Rights: replaceMethods(Rights, (original) => ({
      onApplied: (operation) => {
        original.onApplied(operation);
        original.isDue = false;
      },
    })),
  },

  created: { SiteState: repeatTransfers(2) },
  lost: { SiteState: repeatTransfers(0) },
} satisfies Readonly<Record<string, Partial<RunParts>>>;
