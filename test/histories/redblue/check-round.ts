/** Judges a round: by its calls, and by what each site showed at last. */
import { callFaults, nameOf } from '../checks/calls.ts';
import { firstFew } from '../checks/first-few.ts';
import { queueFaults } from '../checks/queues.ts';
import { registerFaults, unreadable, type Read } from '../checks/registers.ts';
import { groupBy } from '../group-by.ts';
import type { Call } from '../history.ts';
import { causalityFaults } from './checks/causality.ts';
import { holdFaults } from './checks/exclusive-holds.ts';
import { dutyFaults, endFaults, missedRed, sightFaults } from './checks/ledger.ts';
import { sightsOf, tracesOf } from './checks/reads.ts';

export interface RoundEvidence {
  readonly calls: readonly Call[];
  /** What each site showed when all was healed. */
  readonly last: ReadonlyMap<string, Call>;
}

export function checkRound({ calls, last }: RoundEvidence): string[] {
  const sights = sightsOf(calls);
  const traces = tracesOf(calls);
  const found = [
    callFaults(calls),
    failedFaults(calls),
    sightFaults(sights, traces),
    causalityFaults({ calls, sights, traces }),
    missedRed(sights, traces),
    dutyFaults(sights),
    endFaults(last, traces, calls),
    byKey(calls, ['enqueue', 'dequeue'], (name, of) => queueFaults({ name, calls: of, isOrdered: true })),
    byKey(calls, ['put', 'get'], keyFaults),
    byKey(calls, ['claim', 'release'], holdFaults),
  ];
  return found.flatMap(firstFew);
}

/** The service of these histories throws nothing and keeps its contract, so any other failure is a fault. */
function failedFaults(calls: readonly Call[]): string[] {
  return calls.filter(({ outcome }) => outcome === 'FINAL_FAILED').map((call) => `${nameOf(call)} failed by itself`);
}

function byKey(
  calls: readonly Call[],
  kinds: readonly string[],
  faultsOf: (key: string, calls: readonly Call[]) => string[],
): string[] {
  const ofKinds = calls.filter(({ kind }) => kinds.includes(kind));
  return [...groupBy(ofKinds, ({ key }) => key)].flatMap(([key, of]) => firstFew(faultsOf(key, of)));
}

/** Strong views are linearizable; causal ones show what was written. */
function keyFaults(key: string, calls: readonly Call[]): string[] {
  const writes = calls.filter(({ kind }) => kind === 'put');
  const readsAt = (requested: string): Read[] =>
    calls
      .filter(({ kind }) => kind === 'get')
      .flatMap(({ session, beginMs, views = [] }) =>
        views
          .filter(({ level }) => level === requested)
          .map(({ value, atMs }) => ({ session, value: (value as string | null) ?? undefined, beginMs, endMs: atMs })),
      );
  return [...registerFaults(key, writes, readsAt('strong')), ...unreadable(key, writes, readsAt('causal'))];
}
