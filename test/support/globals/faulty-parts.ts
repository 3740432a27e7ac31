/** Parts of sites that each leave out one rule of globals. */
import type {
  CertificationDecision,
  Conflict,
} from '../../../src/server/records/certification-result.ts';
import type {
  ExecutionName,
  GlobalOperation,
  RedRecord,
} from '../../../src/server/records/records.ts';
import type { Vector } from '../../../src/server/records/vector.ts';
import { findAwaitedStamps } from '../../../src/server/replica/red/order/global-gate.ts';
import type { Footprint } from '../../../src/server/replica/red/order/footprint.ts';
import { HoldTable, type ExecutionEnd } from '../../../src/server/replica/red/order/hold-table.ts';
import { PartitionCertifier } from '../../../src/server/replica/red/order/partition-certifier.ts';
import {
  GlobalCoordinator,
  type CoordinatorOptions,
  type SiteProgress,
} from '../../../src/server/replica/red/requests/global-coordinator.ts';

/** Nothing is held, and holds are not certified. */
export class UnheldTable extends HoldTable {
  protected override findOverlappingName(): undefined {
    return undefined;
  }
}

export class UnheldCertifier extends PartitionCertifier {
  protected override findGlobalConflict(operation: GlobalOperation): Conflict | undefined {
    return operation.holds === undefined ? undefined : super.findGlobalConflict(operation);
  }
}

const NOTHING_READ = { reads: new Set<string>(), ranges: [] };
const NOTHING_WRITTEN = { writes: new Set<string>(), effects: [] };

/** A record may write what a hold reads. */
export class OneWayTable extends HoldTable {
  protected override findOverlappingName(later: Footprint, held: Footprint): string | undefined {
    return super.findOverlappingName(later, { ...held, ...NOTHING_READ });
  }
}

/** A record may read and write what a hold writes. */
export class OtherWayTable extends HoldTable {
  protected override findOverlappingName(later: Footprint, held: Footprint): string | undefined {
    return super.findOverlappingName(later, { ...held, ...NOTHING_WRITTEN });
  }
}

/** A rejection of a global is forgotten. */
export class UnrejectingTable extends HoldTable {
  forgets = false;

  override end(execution: ExecutionName, how: ExecutionEnd, stamp: number): void {
    if (how !== 'never' || !this.forgets) super.end(execution, how, stamp);
  }
}

export class UnrejectingCertifier extends PartitionCertifier {
  override decide(record: RedRecord): CertificationDecision {
    (this.holds as UnrejectingTable).forgets = record.kind === 'operation';
    return super.decide(record);
  }
}

/** A global that read nothing in a log may have a snapshot of any age there. */
export class WindowlessCertifier extends PartitionCertifier {
  protected override findGlobalConflict(operation: GlobalOperation): Conflict | undefined {
    return this.findConflict(operation);
  }
}

export class UnabortingCoordinator extends GlobalCoordinator {
  protected override abort(): void {}
}

export class FinalCoveringCoordinator extends GlobalCoordinator {
  protected override getCoverage(
    snapshot: Vector,
    site: SiteProgress,
  ): 'covered' | 'later' | 'never' {
    const coverage = super.getCoverage(snapshot, site);
    return coverage === 'never' ? 'covered' : coverage;
  }
}

/** Releases do not wait until the global is applied. */
export class EarlyCoordinator extends GlobalCoordinator {
  override act(site: SiteProgress): ReturnType<GlobalCoordinator['act']> {
    return super.act({ ...site, isApplied: () => true });
  }
}

/** Holds are appended, whatever the logs order. */
export class UnreachingCoordinator extends GlobalCoordinator {
  override act(site: SiteProgress): ReturnType<GlobalCoordinator['act']> {
    return super.act({ ...site, isReachable: () => true });
  }
}

/** What a coordinator reads of a table: the refusal of a hold is not there. */
class UnrefusedTable extends HoldTable {
  readonly #table: HoldTable;

  constructor(table: HoldTable) {
    super({ ofRow: () => undefined }, 0);
    this.#table = table;
  }

  override get standing(): HoldTable['standing'] {
    return this.#table.standing;
  }

  override get touched(): HoldTable['touched'] {
    return this.#table.touched;
  }

  override getEnd(execution: ExecutionName): ReturnType<HoldTable['getEnd']> {
    const end = this.#table.getEnd(execution);
    return end?.how === 'refused' ? undefined : end;
  }
}

/** After a refusal, the other holds wait for an abort. */
export class UnrefusedCoordinator extends GlobalCoordinator {
  constructor(options: CoordinatorOptions) {
    super({ ...options, tables: options.tables.map((table) => new UnrefusedTable(table)) });
  }
}

type Awaited = typeof findAwaitedStamps;

/** A global does not wait for its holds. */
export function awaitOnlyGlobals(...[record, decision]: Parameters<Awaited>): ReturnType<Awaited> {
  return record.kind === 'operation' ? [] : findAwaitedStamps(record, decision);
}

/** The end of a hold does not wait for the global. */
export function awaitOnlyHolds(...[record, decision]: Parameters<Awaited>): ReturnType<Awaited> {
  return record.kind === 'release' ? [] : findAwaitedStamps(record, decision);
}
