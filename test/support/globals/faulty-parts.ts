/** Parts of sites that each leave out one rule of globals. */
import { findAwaitedStamps } from '../../../src/server/site/lane/order/global-gate.ts';
import { HoldTable } from '../../../src/server/site/lane/order/hold-table.ts';
import { PartitionCertifier } from '../../../src/server/site/lane/order/partition-certifier.ts';
import { GlobalCoordinator } from '../../../src/server/site/lane/requests/global-coordinator.ts';
import { replaceArguments, replaceMethods } from '../replace-methods.ts';

/** Nothing is held, and holds are not certified. */
export const UnheldTable = replaceMethods(HoldTable, () => ({
  findOverlappingName: () => undefined,
}));

export const UnheldCertifier = replaceMethods(PartitionCertifier, (original) => ({
  findGlobalConflict: (operation) =>
    operation.holds === undefined ? undefined : original.findGlobalConflict(operation),
}));

const NOTHING_READ = { reads: new Set<string>(), ranges: [] };
const NOTHING_WRITTEN = { writes: new Set<string>(), effects: [] };

/** A record may write what a hold reads. */
export const OneWayTable = replaceMethods(HoldTable, (original) => ({
  findOverlappingName: (later, held) =>
    original.findOverlappingName(later, { ...held, ...NOTHING_READ }),
}));

/** A record may read and write what a hold writes. */
export const OtherWayTable = replaceMethods(HoldTable, (original) => ({
  findOverlappingName: (later, held) =>
    original.findOverlappingName(later, { ...held, ...NOTHING_WRITTEN }),
}));

/** A rejection of a global is forgotten. */
export const UnrejectingCertifier = replaceMethods(
  PartitionCertifier,
  (original, _limits, _log, holds) => {
    const end = holds.end.bind(holds);
    let forgets = false;
    holds.end = (execution, how, stamp) => {
      if (how !== 'never' || !forgets) end(execution, how, stamp);
    };
    return {
      decide: (record) => {
        forgets = record.kind === 'operation';
        return original.decide(record);
      },
    };
  },
);

/** A global that read nothing in a log may have a snapshot of any age there. */
export const WindowlessCertifier = replaceMethods(PartitionCertifier, (original) => ({
  findGlobalConflict: (operation) => original.findConflict(operation),
}));

export const UnabortingCoordinator = replaceMethods(GlobalCoordinator, () => ({ abort: () => {} }));

export const FinalCoveringCoordinator = replaceMethods(GlobalCoordinator, (original) => ({
  act: (site) => {
    const getCoverage: typeof site.getCoverage = (snapshot) => {
      const coverage = site.getCoverage(snapshot);
      return coverage === 'never' ? 'covered' : coverage;
    };
    return original.act({ ...site, getCoverage });
  },
}));

/** Releases do not wait until the global is applied. */
export const EarlyCoordinator = replaceMethods(GlobalCoordinator, (original) => ({
  act: (site) => original.act({ ...site, isApplied: () => true }),
}));

/** Holds are appended, whatever the logs order. */
export const UnreachingCoordinator = replaceMethods(GlobalCoordinator, (original) => ({
  act: (site) => original.act({ ...site, isReachable: () => true }),
}));

/** What a coordinator reads of a table: the refusal of a hold is not there. */
function createUnrefusedTable(table: HoldTable): HoldTable {
  const Unrefused = replaceMethods(HoldTable, () => ({
    get standing() {
      return table.standing;
    },
    get touched() {
      return table.touched;
    },
    getEnd: (execution) => {
      const end = table.getEnd(execution);
      return end?.how === 'refused' ? undefined : end;
    },
  }));
  return new Unrefused({ ofRow: () => undefined }, 0);
}

/** After a refusal, the other holds wait for an abort. */
export const UnrefusedCoordinator = replaceArguments(GlobalCoordinator, (options) => [
  { ...options, tables: options.tables.map(createUnrefusedTable) },
]);

type Awaited = typeof findAwaitedStamps;

/** A global does not wait for its holds. */
export function awaitOnlyGlobals(...[record, decision]: Parameters<Awaited>): ReturnType<Awaited> {
  return record.kind === 'operation' ? [] : findAwaitedStamps(record, decision);
}

/** The end of a hold does not wait for the global. */
export function awaitOnlyHolds(...[record, decision]: Parameters<Awaited>): ReturnType<Awaited> {
  return record.kind === 'release' ? [] : findAwaitedStamps(record, decision);
}
