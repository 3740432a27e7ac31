/**
 * Parts of sites with several red logs that each break one rule: what planted faults of partitions
 * are made of.
 */
import { parseName } from '../../src/server/service/generator/read-set.ts';
import type { Effect } from '../../src/server/service/records/effect.ts';
import { getExecutionName, isGlobal } from '../../src/server/site/lane/global-records.ts';
import type {
  ExecutionName,
  LocalEntry,
  RedOperation,
} from '../../src/server/service/records/records.ts';
import type { Origin, Origins } from '../../src/server/service/records/origin.ts';
import type { SiteCore } from '../../src/server/site/core/site-core.ts';
import {
  findReadName,
  findWrittenName,
  type Footprint,
} from '../../src/server/site/lane/order/footprint.ts';
import { HoldTable } from '../../src/server/site/lane/order/hold-table.ts';
import { PartitionCertifier } from '../../src/server/site/lane/order/partition-certifier.ts';
import { RedOrder } from '../../src/server/site/lane/order/red-order.ts';
import { RedPath } from '../../src/server/site/lane/red-path.ts';
import { GlobalRequests } from '../../src/server/site/lane/requests/global-requests.ts';
import { Pipeline } from '../../src/server/site/lane/requests/pipeline.ts';
import type { PipelinedOperation } from '../../src/server/site/lane/requests/red-requests.ts';
import type { Partitions } from '../../src/server/service/partitions.ts';
import { Site } from '../../src/server/site/site.ts';
import type { RunParts } from '../../src/testing/simulator/run-parts.ts';
import {
  awaitOnlyGlobals,
  awaitOnlyHolds,
  UnabortingCoordinator,
  WindowlessCertifier,
} from '../support/globals/faulty-parts.ts';
import { replaceArguments, replaceMethods } from '../support/replace-methods.ts';

/** By the state of a site: the globals that its logs have applied in their own rows alone. */
const GLOBALS = new WeakMap<object, Map<ExecutionName, RedOperation>>();

/** Applies the rows of another partition only when their hold ends. */
const PartialOrder = replaceMethods(RedOrder, (original, { partitions }, state) => {
  const globals = GLOBALS.get(state) ?? new Map<ExecutionName, RedOperation>();
  GLOBALS.set(state, globals);
  const isHere = ({ table, key }: Effect): boolean =>
    partitions?.ofRow(table, key) === original.partition;
  return {
    apply: (operation, stamp) => {
      if (!isGlobal(operation)) return original.apply(operation, stamp);
      globals.set(getExecutionName(operation), operation);
      return original.apply({ ...operation, effects: operation.effects.filter(isHere) }, stamp);
    },
    takePassable: () => {
      const item = original.takePassable();
      if (item?.record.kind !== 'release' || item.decision.kind !== 'release') return item;
      const operation = globals.get(item.record.execution);
      const { stamp: time } = item.decision;
      const { log: entry } = original;
      for (const effect of operation?.effects.filter(isHere) ?? [])
        state.store.apply(effect, { time, site: 0 as Origin, entry, version: time, seen: [] });
      return item;
    },
  };
});

/** Gives the record of a red operation a clock that is above its own log and the sites alone. */
function lowerClock(record: RedOperation, isOtherLog: (origin: number) => boolean): void {
  const above = record.snapshot.filter((_, origin) => !isOtherLog(origin));
  Object.assign(record, { clock: Math.max(0, ...above) + 1 });
}

/** Changes each red operation when it is created. */
const withCreated = (
  change: (record: RedOperation, origins: Origins) => void,
): Partial<RunParts> => ({
  Site: replaceArguments(Site, (options, ...found) => {
    const { origins, observer } = options;
    const onCreated: NonNullable<typeof observer>['onCreated'] = (operation) => {
      if ('attempt' in operation) change(operation, origins);
      observer?.onCreated?.(operation);
    };
    return [{ ...options, observer: { ...observer, onCreated } }, ...found];
  }),
});

/** What a global takes from a stock does not count as read. No generator reads one. */
function dropStocksRead(record: RedOperation): void {
  const isStock = (name: string): boolean => parseName(name).field === 'left';
  if (isGlobal(record))
    Object.assign(record, { reads: record.reads.filter((name) => !isStock(name)) });
}

/** Puts another comparison of an operation with a hold in the place of the table's own one. */
const withOverlap = (
  findOverlappingName: (later: Footprint, held: Footprint) => string | undefined,
): Partial<RunParts> => ({
  HoldTable: replaceMethods(HoldTable, () => ({ findOverlappingName })),
});

const withAwaited = (findAwaitedStamps: typeof awaitOnlyHolds): Partial<RunParts> => ({
  RedOrder: replaceMethods(RedOrder, () => ({ findAwaitedStamps })),
});

/** Replaces how a site finds the logs of rows and operations. */
const withPartitions = (
  change: (partitions: Partitions, site: Origin) => Partial<Partitions>,
): Partial<RunParts> => ({
  Site: replaceArguments(Site, (options, ...found) => {
    const { partitions, site } = options;
    if (partitions === undefined || partitions.count === 1) return [options, ...found];
    const changed = {
      names: partitions.names,
      count: partitions.count,
      ofRow: (...row: Parameters<Partitions['ofRow']>) => partitions.ofRow(...row),
      homeOf: (...operation: Parameters<Partitions['homeOf']>) => partitions.homeOf(...operation),
      ...change(partitions, site),
    };
    return [{ ...options, partitions: changed }, ...found];
  }),
});

/** The last execution of a site, and the operations that it stands on. */
interface PipelinedRun {
  isGlobal: boolean;
  below: readonly PipelinedOperation[];
}

const RUNS = new WeakMap<object, PipelinedRun>();

/** Notes whether the last execution of a site on operations in flight is a global. */
function watchRuns({ state, options }: SiteCore): PipelinedRun {
  const known = RUNS.get(state);
  if (known !== undefined) return known;
  const last: PipelinedRun = { isGlobal: false, below: [] };
  RUNS.set(state, last);
  const runPipelined = state.runPipelined.bind(state);
  state.runPipelined = (input) => {
    const outcome = runPipelined(input);
    const rows = outcome.choice?.effects ?? [];
    const partitions = rows.map(({ table, key }) => options.partitions?.ofRow(table, key));
    last.isGlobal = new Set(partitions).size > 1;
    return outcome;
  };
  return last;
}

/** What a site can be broken by, by name. */
export const BUGGY_PARTITIONS = {
  /** Waits at its gate for blue operations alone. */
  narrowGate: {
    RedOrder: replaceMethods(RedOrder, (original, { origins }) => ({
      mayPass: (record) => {
        if (record.kind !== 'operation') return original.mayPass(record);
        const snapshot = record.snapshot.map((stamp, origin) =>
          origins.isLog(origin) ? 0 : stamp,
        );
        return original.mayPass({ ...record, snapshot });
      },
    })),
  },

  /** Takes the entry of `main` for that of each log. */
  mainGate: {
    RedOrder: replaceMethods(RedOrder, (original) => ({
      mayPass: (record) => {
        if (record.kind !== 'operation') return original.mayPass(record);
        return original.mayPass({ ...record, snapshot: record.snapshot.with(0, 0) });
      },
    })),
  },

  partialGlobals: { RedOrder: PartialOrder },
  noOverlap: withOverlap(() => undefined),
  readOverlap: withOverlap((later, held) => findReadName(held, later)),
  writeOverlap: withOverlap(
    (later, held) => findReadName(later, held) ?? findWrittenName(later, held),
  ),

  /** Grants each hold, whatever was written since the snapshot. */
  uncertifiedHolds: {
    PartitionCertifier: replaceMethods(PartitionCertifier, () => ({
      findGlobalConflict: () => undefined,
    })),
  },

  /** Each check of a strong read passes, whatever was written since its snapshot. */
  uncheckedReads: {
    PartitionCertifier: replaceMethods(PartitionCertifier, () => ({
      findCheckConflict: () => undefined,
    })),
  },

  stamplessGate: withAwaited(awaitOnlyGlobals),

  /** The end of a hold is proposed, and passes its gate, before the global is applied. */
  earlyReleases: {
    ...withAwaited(awaitOnlyHolds),
    GlobalRequests: replaceMethods(GlobalRequests, () => ({ isApplied: () => true })),
  },

  /** Holds do not count for strong reads. */
  passingReads: {
    GlobalRequests: replaceMethods(GlobalRequests, () => ({ readsHeld: () => undefined })),
  },

  /** A global that was refused is executed again at once, as if that were the first time. */
  uncountedRefusals: {
    GlobalRequests: replaceMethods(GlobalRequests, (original) => ({
      waitForRetry: (request, operation) => {
        request.refusals = -1;
        original.waitForRetry(request, operation);
      },
    })),
  },

  noAborts: { GlobalCoordinator: UnabortingCoordinator },
  windowlessGlobals: { PartitionCertifier: WindowlessCertifier },

  /** A checkpoint has no holds. */
  unsavedHolds: {
    PartitionCertifier: replaceMethods(PartitionCertifier, (original) => ({
      get sections() {
        const { holds: _, ...sections } = original.sections;
        return sections;
      },
    })),
  },

  homesBySite: withPartitions((partitions, site) => ({
    homeOf: (...operation) => (partitions.homeOf(...operation) + site) % partitions.count,
  })),
  rowsBySite: withPartitions((partitions, site) => ({
    ofRow: (...row) => (site === 1 ? partitions.ofRow(...row) : 0),
  })),

  /**
   * An operation of an earlier start has ended once a marker has passed, although its hold stands.
   */
  forgottenHolds: {
    RedPath: replaceMethods(RedPath, (original) => ({
      get inFlight() {
        // No identifier of a run has a space.
        const isExecution = (item: string): boolean => item.includes(' ');
        return [...original.inFlight].filter((item) => !isExecution(item));
      },
    })),
  },

  /** A marker in the log of `main` counts for all logs. */
  oneMarker: {
    RedPath: replaceMethods(RedPath, (original) => ({
      ensureMarkersPassed: (marker) => original.ensureMarkerPassed(marker, 0),
    })),
  },

  lowStamps: withCreated((record, origins) => {
    const own = origins.logs[record.partition ?? 0];
    lowerClock(record, (origin) => origins.isLog(origin) && origin !== own);
  }),
  unreadStocks: withCreated(dropStocksRead),

  /**
   * A start finds in the site's own log how many records of `main` were delivered, and nothing
   * about other logs.
   */
  mainCounts: {
    Site: replaceArguments(Site, (options, found, ...times) => {
      if (found === undefined) return [options];
      const toMain = (entry: LocalEntry): LocalEntry =>
        'redDelivered' in entry && typeof entry.redDelivered !== 'number'
          ? { ...entry, redDelivered: entry.redDelivered?.[0] ?? 0 }
          : entry;
      const local = { ...found.local, entries: found.local.entries.map(toMain) };
      return [options, { ...found, local }, ...times];
    }),
  },

  /**
   * An operation that is a global on top of own operations in flight is executed there, and does
   * not wait for their end: they count as not proposed yet, until its record is made.
   */
  globalsOnTop: {
    Pipeline: replaceMethods(Pipeline, (original, core) => {
      const run = watchRuns(core);
      return {
        getDependencies: (reads) => {
          const found = original.getDependencies(reads);
          if (!run.isGlobal) return found;
          run.isGlobal = false;
          run.below = found.filter(({ request }) => request.isProposed);
          for (const { request } of run.below) request.isProposed = false;
          return [];
        },
      };
    }),
    GlobalRequests: replaceMethods(GlobalRequests, (original, core) => {
      const run = watchRuns(core);
      return {
        begin: (record, request) => {
          for (const { request: earlier } of run.below) earlier.isProposed = true;
          run.below = [];
          original.begin(record, request);
        },
      };
    }),
  },
} satisfies Readonly<Record<string, Partial<RunParts>>>;
