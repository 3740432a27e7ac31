/** Sites that mistake others: which start of one has sent a message, and whose stamps are whose. */
import { MessageFilter } from '../../src/server/site/wire/message-filter.ts';
import { BluePath } from '../../src/server/site/parts/blue/blue-path.ts';
import type { RunParts } from '../../src/testing/simulator/run-parts.ts';
import { replaceMethods } from '../support/replace-methods.ts';

/** What can be mistaken, by name. */
export const MISADDRESSED_MESSAGES = {
  /** Takes whatever comes from a site, whichever start of it has sent that. */
  starts: { MessageFilter: replaceMethods(MessageFilter, () => ({ isCurrent: () => true })) },

  /**
   * Takes the ordinal of a site for its index in the list of sites, which holds the progress of
   * another site.
   */
  origins: {
    BluePath: replaceMethods(BluePath, (original) => ({
      onHave: (from, message) =>
        original.onHave(from, { ...message, synced: message.synced.slice(1) }),
    })),
  },
} satisfies Readonly<Record<string, Partial<RunParts>>>;
