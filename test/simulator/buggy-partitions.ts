/**
 * Sites with several red logs that each break one rule: what planted faults of partitions are made
 * of.
 */
import { parseName, type ReadSet } from '../../src/server/generator/read-set.ts';
import type { Effect } from '../../src/server/records/effect.ts';
import { getExecutionName, isGlobal } from '../../src/server/records/global-records.ts';
import type {
  ExecutionName,
  HoldStamp,
  LocalEntry,
  OperationId,
  RedOperation,
  RedRecord,
} from '../../src/server/records/records.ts';
import type { Origin, Origins } from '../../src/server/records/origin.ts';
import { Certifier } from '../../src/server/replica/red/order/certifier.ts';
import {
  findReadName,
  findWrittenName,
  type Footprint,
} from '../../src/server/replica/red/order/footprint.ts';
import { PartitionCertifier } from '../../src/server/replica/red/order/partition-certifier.ts';
import { RedOrder } from '../../src/server/replica/red/order/red-order.ts';
import { RedPath } from '../../src/server/replica/red/red-path.ts';
import { Replica } from '../../src/server/replica/replica.ts';
import type { MachineFactory } from '../../src/testing/simulator/simulated-site-options.ts';
import { GlobalRequests } from '../../src/server/replica/red/requests/global-requests.ts';
import type { GlobalCoordinator } from '../../src/server/replica/red/requests/global-coordinator.ts';
import { Pipeline } from '../../src/server/replica/red/requests/pipeline.ts';
import type { PipelinedOperation } from '../../src/server/replica/red/requests/red-requests.ts';
import type { Partitions } from '../../src/server/service/partitions.ts';
import type { Section } from '../../src/server/records/checkpoint.ts';
import {
  awaitOnlyGlobals,
  awaitOnlyHolds,
  UnabortingCoordinator,
  WindowlessCertifier,
} from '../support/globals/faulty-parts.ts';
import { SiteMachine } from '../../src/server/site/site-machine.ts';
import { withReplica } from './buggy-replicas.ts';

const withRedPath = (make: (replica: Replica) => RedPath): MachineFactory =>
  withReplica(
    class extends Replica {
      protected override createRedPath(): RedPath {
        return make(this);
      }
    },
  );

/** Waits at its gate for blue operations alone. */
class NarrowGate extends RedOrder {
  readonly #replica: Replica;

  constructor(replica: Replica, partition: number) {
    super(replica.options, replica.state, partition);
    this.#replica = replica;
  }

  protected override mayPass(record: RedRecord): boolean {
    if (record.kind !== 'operation') return super.mayPass(record);
    const { origins } = this.#replica.options;
    const snapshot = record.snapshot.map((stamp, origin) => (origins.isLog(origin) ? 0 : stamp));
    return super.mayPass({ ...record, snapshot });
  }
}

/** Takes the entry of `main` for that of each log. */
class MainGate extends NarrowGate {
  protected override mayPass(record: RedRecord): boolean {
    if (record.kind !== 'operation') return super.mayPass(record);
    return RedOrder.prototype['mayPass'].call(this, {
      ...record,
      snapshot: record.snapshot.with(0, 0),
    });
  }
}

/** Applies the rows of another partition only when their hold ends. */
class PartialOrder extends RedOrder {
  readonly #replica: Replica;
  /** Those of all logs of the site. */
  readonly #globals: Map<ExecutionName, RedOperation>;

  constructor(replica: Replica, partition: number, globals: Map<ExecutionName, RedOperation>) {
    super(replica.options, replica.state, partition);
    this.#replica = replica;
    this.#globals = globals;
  }

  override apply(operation: RedOperation, stamp: number): ReturnType<RedOrder['apply']> {
    if (!isGlobal(operation)) return super.apply(operation, stamp);
    this.#globals.set(getExecutionName(operation), operation);
    return super.apply({ ...operation, effects: operation.effects.filter(this.#isHere) }, stamp);
  }

  override takePassable(): ReturnType<RedOrder['takePassable']> {
    const item = super.takePassable();
    if (item?.record.kind !== 'release' || item.decision.kind !== 'release') return item;
    const { store } = this.#replica.state;
    const operation = this.#globals.get(item.record.execution);
    const { stamp: time } = item.decision;
    for (const effect of operation?.effects.filter(this.#isHere) ?? [])
      store.apply(effect, { time, site: 0 as Origin, entry: this.log, version: time, seen: [] });
    return item;
  }

  readonly #isHere = ({ table, key }: Effect): boolean =>
    this.#replica.options.partitions?.ofRow(table, key) === this.partition;
}

/** A marker in the log of `main` counts for all logs. */
class OneMarkerPath extends RedPath {
  override ensureMarkersPassed(marker: OperationId): boolean {
    return this.ensureMarkerPassed(marker, 0);
  }
}

/** Gives the record of a red operation a clock that is above its own log and the sites alone. */
function lowerClock(record: RedOperation, isOtherLog: (origin: number) => boolean): void {
  const above = record.snapshot.filter((_, origin) => !isOtherLog(origin));
  Object.assign(record, { clock: Math.max(0, ...above) + 1 });
}

/** Changes each red operation when it is created. */
const withCreated =
  (change: (record: RedOperation, origins: Origins) => void): MachineFactory =>
  (options, ...found) => {
    const { origins, observer } = options;
    const onCreated: NonNullable<typeof observer>['onCreated'] = (operation) => {
      if ('attempt' in operation) change(operation, origins);
      observer?.onCreated?.(operation);
    };
    return new SiteMachine({ ...options, observer: { ...observer, onCreated } }, ...found);
  };

/** What a global takes from a stock does not count as read. No generator reads one. */
function dropStocksRead(record: RedOperation): void {
  const isStock = (name: string): boolean => parseName(name).field === 'left';
  if (isGlobal(record))
    Object.assign(record, { reads: record.reads.filter((name) => !isStock(name)) });
}

/** Grants each hold, whatever was written since the snapshot. */
class UncertifiedHolds extends PartitionCertifier {
  protected override findGlobalConflict(): undefined {
    return undefined;
  }
}

/** Each check of a strong read passes, whatever was written since its snapshot. */
class UncheckedReads extends PartitionCertifier {
  protected override findCheckConflict(): undefined {
    return undefined;
  }
}

/**
 * An operation of an earlier start has ended once a marker has passed, although its hold stands.
 */
class ForgottenHoldsPath extends RedPath {
  override get inFlight(): Iterable<OperationId> {
    const isExecution = (item: string): boolean => item.includes(' '); // No identifier of a run has a space.
    return [...super.inFlight].filter((item) => !isExecution(item));
  }
}

const withCertifier = (
  make: (...parts: ConstructorParameters<typeof PartitionCertifier>) => Certifier,
): MachineFactory =>
  withRedPath(
    (replica) =>
      new RedPath(replica, {
        createOrder: (partition) =>
          new RedOrder(replica.options, replica.state, partition, (limits, log, holds) =>
            holds === undefined ? new Certifier(limits, log) : make(limits, log, holds),
          ),
      }),
  );

/** Puts another comparison of an operation with a hold in the place of the table's own one. */
const withOverlap = (
  findOverlappingName: (later: Footprint, held: Footprint) => string | undefined,
): MachineFactory =>
  withRedPath((replica) => {
    const createOrder = (partition: number): RedOrder => {
      const order = new RedOrder(replica.options, replica.state, partition);
      if (order.holds !== undefined) Object.assign(order.holds, { findOverlappingName });
      return order;
    };
    return new RedPath(replica, { createOrder });
  });

const withAwaited = (findAwaitedStamps: typeof awaitOnlyHolds): MachineFactory =>
  withRedPath((replica) => {
    const createOrder = (partition: number): RedOrder => {
      const order = new RedOrder(replica.options, replica.state, partition);
      return Object.assign(order, { findAwaitedStamps });
    };
    return new RedPath(replica, { createOrder });
  });

const withGlobals = (Globals: typeof GlobalRequests): MachineFactory =>
  withRedPath(
    (replica) => new RedPath(replica, { createGlobals: (...parts) => new Globals(...parts) }),
  );

const withCoordinator = (Coordinator: typeof GlobalCoordinator): MachineFactory =>
  withRedPath(
    (replica) =>
      new RedPath(replica, {
        createGlobals: (...parts) =>
          new GlobalRequests(...parts, (options) => new Coordinator(options)),
      }),
  );

/** Replaces how a site finds the logs of rows and operations. */
const withPartitions =
  (change: (partitions: Partitions, site: Origin) => Partial<Partitions>): MachineFactory =>
  (options, ...found) => {
    const { partitions, site } = options;
    if (partitions === undefined || partitions.count === 1)
      return new SiteMachine(options, ...found);
    const changed = {
      names: partitions.names,
      count: partitions.count,
      ofRow: (...row: Parameters<Partitions['ofRow']>) => partitions.ofRow(...row),
      homeOf: (...operation: Parameters<Partitions['homeOf']>) => partitions.homeOf(...operation),
      ...change(partitions, site),
    };
    return new SiteMachine({ ...options, partitions: changed }, ...found);
  };

/** The end of a hold is proposed, and passes its gate, before the global is applied. */
class EarlyReleaseOrder extends RedOrder {
  protected override findAwaitedStamps(
    ...passing: Parameters<typeof awaitOnlyHolds>
  ): readonly HoldStamp[] {
    return awaitOnlyHolds(...passing);
  }
}

class EarlyGlobals extends GlobalRequests {
  override isApplied(): boolean {
    return true;
  }
}

/** A global that was refused is executed again at once, as if that were the first time. */
class UncountedRefusals extends GlobalRequests {
  override waitForRetry(...[request, operation]: Parameters<GlobalRequests['waitForRetry']>): void {
    request.refusals = -1;
    super.waitForRetry(request, operation);
  }
}

/** Holds do not count for strong reads. */
class PassingReads extends GlobalRequests {
  override readsHeld(): undefined {
    return undefined;
  }
}

/** A checkpoint has no holds. */
class UnsavedHolds extends PartitionCertifier {
  override get sections(): Readonly<Record<string, Section>> {
    const { holds: _, ...sections } = super.sections;
    return sections;
  }
}

/**
 * A start finds in the site's own log how many records of `main` were delivered, and nothing about
 * other logs.
 */
const mainCounts: MachineFactory = (options, found, ...times) => {
  const toMain = (entry: LocalEntry): LocalEntry =>
    'redDelivered' in entry && typeof entry.redDelivered !== 'number'
      ? { ...entry, redDelivered: entry.redDelivered?.[0] ?? 0 }
      : entry;
  const local = { ...found.local, entries: found.local.entries.map(toMain) };
  return new SiteMachine(options, { ...found, local }, ...times);
};

/**
 * An operation that is a global on top of own operations in flight is executed there, and does not
 * wait for their end: they count as not proposed yet, until its record is made.
 */
const globalsOnTop = withRedPath((replica) => {
  const { state, options } = replica;
  const runPipelined = state.runPipelined.bind(state);
  let isGlobalRun = false;
  let below: readonly PipelinedOperation[] = [];
  state.runPipelined = (input) => {
    const outcome = runPipelined(input);
    const rows = outcome.choice?.effects ?? [];
    isGlobalRun =
      new Set(rows.map(({ table, key }) => options.partitions?.ofRow(table, key))).size > 1;
    return outcome;
  };
  class ForgetfulPipeline extends Pipeline {
    override getDependencies(reads: ReadSet): PipelinedOperation[] {
      const found = super.getDependencies(reads);
      if (!isGlobalRun) return found;
      isGlobalRun = false;
      below = found.filter(({ request }) => request.isProposed);
      for (const { request } of below) request.isProposed = false;
      return [];
    }
  }
  class GlobalsOnTop extends GlobalRequests {
    override begin(...started: Parameters<GlobalRequests['begin']>): void {
      for (const { request } of below) request.isProposed = true;
      below = [];
      super.begin(...started);
    }
  }
  return new RedPath(replica, {
    createPipeline: () => new ForgetfulPipeline(replica),
    createGlobals: (...parts) => new GlobalsOnTop(...parts),
  });
});

/** What a machine can be broken by, by name. */
export const BUGGY_PARTITIONS = {
  narrowGate: withRedPath(
    (replica) =>
      new RedPath(replica, { createOrder: (partition) => new NarrowGate(replica, partition) }),
  ),
  mainGate: withRedPath(
    (replica) =>
      new RedPath(replica, { createOrder: (partition) => new MainGate(replica, partition) }),
  ),
  partialGlobals: withRedPath((replica) => {
    const globals = new Map<ExecutionName, RedOperation>();
    return new RedPath(replica, {
      createOrder: (partition) => new PartialOrder(replica, partition, globals),
    });
  }),
  noOverlap: withOverlap(() => undefined),
  readOverlap: withOverlap((later, held) => findReadName(held, later)),
  uncertifiedHolds: withCertifier((...parts) => new UncertifiedHolds(...parts)),
  uncheckedReads: withCertifier((...parts) => new UncheckedReads(...parts)),
  stamplessGate: withAwaited(awaitOnlyGlobals),
  earlyReleases: withRedPath(
    (replica) =>
      new RedPath(replica, {
        createOrder: (partition) =>
          new EarlyReleaseOrder(replica.options, replica.state, partition),
        createGlobals: (...parts) => new EarlyGlobals(...parts),
      }),
  ),
  writeOverlap: withOverlap(
    (later, held) => findReadName(later, held) ?? findWrittenName(later, held),
  ),
  passingReads: withGlobals(PassingReads),
  uncountedRefusals: withGlobals(UncountedRefusals),
  noAborts: withCoordinator(UnabortingCoordinator),
  windowlessGlobals: withCertifier((...parts) => new WindowlessCertifier(...parts)),
  unsavedHolds: withCertifier((...parts) => new UnsavedHolds(...parts)),
  homesBySite: withPartitions((partitions, site) => ({
    homeOf: (...operation) => (partitions.homeOf(...operation) + site) % partitions.count,
  })),
  rowsBySite: withPartitions((partitions, site) => ({
    ofRow: (...row) => (site === 1 ? partitions.ofRow(...row) : 0),
  })),
  forgottenHolds: withRedPath((replica) => new ForgottenHoldsPath(replica)),
  oneMarker: withRedPath((replica) => new OneMarkerPath(replica)),
  lowStamps: withCreated((record, origins) => {
    const own = origins.logs[record.partition ?? 0];
    lowerClock(record, (origin) => origins.isLog(origin) && origin !== own);
  }),
  unreadStocks: withCreated(dropStocksRead),
  mainCounts,
  globalsOnTop,
};
