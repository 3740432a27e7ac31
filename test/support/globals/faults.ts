/** Sites that each leave out one rule of globals. */
import type { CertificationDecision, Conflict } from '../../../src/server/records/certification-result.ts';
import type { ExecutionName, GlobalOperation, RedRecord } from '../../../src/server/records/records.ts';
import type { Vector } from '../../../src/server/records/vector.ts';
import { findAwaitedStamps } from '../../../src/server/replica/red/order/global-gate.ts';
import { HoldTable, type ExecutionEnd, type Footprint } from '../../../src/server/replica/red/order/hold-table.ts';
import { PartitionCertifier } from '../../../src/server/replica/red/order/partition-certifier.ts';
import { GlobalCoordinator, type SiteProgress } from '../../../src/server/replica/red/requests/global-coordinator.ts';
import type { Parts } from './parts.ts';
import type { WorldOptions } from './world.ts';

export interface PlantedFault {
  readonly rule: string;
  readonly parts: Partial<Parts>;
  /** A seed that shows it, or one shortly before. Default: 1 */
  readonly seed?: number;
  /** Where the fault shows. Default: sites restart */
  readonly options?: Partial<WorldOptions>;
}

/** Nothing is held, and holds are not certified. */
class UnheldTable extends HoldTable {
  protected override findOverlappingName(): undefined {
    return undefined;
  }
}

class UnheldCertifier extends PartitionCertifier {
  protected override findGlobalConflict(operation: GlobalOperation): Conflict | undefined {
    return operation.holds === undefined ? undefined : super.findGlobalConflict(operation);
  }
}

const NOTHING_READ = { reads: new Set<string>(), ranges: [] };
const NOTHING_WRITTEN = { writes: new Set<string>(), effects: [] };

/** A record may write what a hold reads. */
class OneWayTable extends HoldTable {
  protected override findOverlappingName(later: Footprint, held: Footprint): string | undefined {
    return super.findOverlappingName(later, { ...held, ...NOTHING_READ });
  }
}

/** A record may read and write what a hold writes. */
class OtherWayTable extends HoldTable {
  protected override findOverlappingName(later: Footprint, held: Footprint): string | undefined {
    return super.findOverlappingName(later, { ...held, ...NOTHING_WRITTEN });
  }
}

/** A rejection of a global is forgotten. */
class UnrejectingTable extends HoldTable {
  forgets = false;

  override end(execution: ExecutionName, how: ExecutionEnd, stamp: number): void {
    if (how !== 'never' || !this.forgets) super.end(execution, how, stamp);
  }
}

class UnrejectingCertifier extends PartitionCertifier {
  override decide(record: RedRecord): CertificationDecision {
    (this.holds as UnrejectingTable).forgets = record.kind === 'operation';
    return super.decide(record);
  }
}

/** A global that read nothing in a log may have a snapshot of any age there. */
class WindowlessCertifier extends PartitionCertifier {
  protected override findGlobalConflict(operation: GlobalOperation): Conflict | undefined {
    return this.findConflict(operation);
  }
}

class UnabortingCoordinator extends GlobalCoordinator {
  protected override abort(): void {}
}

class FinalCoveringCoordinator extends GlobalCoordinator {
  protected override getCoverage(snapshot: Vector, site: SiteProgress): 'covered' | 'later' | 'never' {
    const coverage = super.getCoverage(snapshot, site);
    return coverage === 'never' ? 'covered' : coverage;
  }
}

/** Releases do not wait until the global is applied. */
class EarlyCoordinator extends GlobalCoordinator {
  override act(site: SiteProgress): ReturnType<GlobalCoordinator['act']> {
    return super.act({
      nowMs: site.nowMs,
      getCoverage: (snapshot) => site.getCoverage(snapshot),
      isDurable: (snapshot) => site.isDurable(snapshot),
      isApplied: () => true,
      isLeader: (partition) => site.isLeader(partition),
      isReachable: (partition) => site.isReachable(partition),
    });
  }
}

const SMALL_WINDOW = { windowCommits: 2, copies: 0.5, late: 0.4, lagging: 0.01, globals: 0.8 };
const MANY_COPIES = { copies: 0.5, late: 0.4, lagging: 0.01, globals: 0.8 };
const LOSS = { losesSite: true, blueSpeed: 0.005, globals: 0.9 };

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  { rule: 'G1 home', parts: { fixesHome: false } },
  { rule: 'G6 holds', parts: { HoldTable: UnheldTable, Certifier: UnheldCertifier } },
  { rule: 'G7 writes of what a hold reads', parts: { HoldTable: OneWayTable } },
  { rule: 'G7 what a hold writes', parts: { HoldTable: OtherWayTable } },
  {
    rule: 'G8 stamps of holds',
    parts: {
      findAwaitedStamps: (record, decision) => (record.kind === 'operation' ? [] : findAwaitedStamps(record, decision)),
    },
  },
  { rule: 'G8 lost causes', parts: { Coordinator: FinalCoveringCoordinator }, options: LOSS },
  { rule: 'R8 durable causes', parts: { waitsForDurable: false }, options: LOSS },
  {
    rule: 'G8a release after the global',
    parts: { Coordinator: EarlyCoordinator, findAwaitedStamps: awaitOnlyHolds },
  },
  { rule: 'G8c abort', parts: { Coordinator: UnabortingCoordinator } },
  { rule: 'G8d window', parts: { Certifier: WindowlessCertifier }, options: SMALL_WINDOW, seed: 5_000_290 },
  {
    rule: 'G8d rejections',
    parts: { HoldTable: UnrejectingTable, Certifier: UnrejectingCertifier },
    options: MANY_COPIES,
  },
  { rule: 'G8g holds in the checkpoint', parts: { savesHolds: false } },
];

function awaitOnlyHolds(
  ...[record, decision]: Parameters<typeof findAwaitedStamps>
): ReturnType<typeof findAwaitedStamps> {
  return record.kind === 'release' ? [] : findAwaitedStamps(record, decision);
}
