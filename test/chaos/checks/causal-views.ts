/** Whether views of everything keep causes before effects, and sessions see what they have seen and done. */
import { causalityFaults } from '../../histories/redblue/checks/causality.ts';
import type { Evidence } from '../evidence.ts';
import { listSightings, listUpdates } from './sightings.ts';

/** These histories have no lines whose order could be wrong. */
const NO_LINES = { lines: [], accounts: [], onDuty: [] };

export function causalViewFaults(evidence: Evidence): string[] {
  const sights = listSightings(evidence.operations).map(({ call, level, ids }) => ({
    call,
    level,
    ids,
    look: NO_LINES,
  }));
  const updates = [...listUpdates(evidence)].map(
    ([id, { call, reported, amount }]) => [id, { id, call, reported, amount }] as const,
  );
  return causalityFaults({ calls: evidence.operations, sights, traces: new Map(updates) });
}
