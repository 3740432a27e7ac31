/**
 * One site with several red logs: it delivers, certifies, waits at the gate and applies, as a
 * replica does.
 */
import type { CertificationDecision } from '../../../src/server/service/records/certification-result.ts';
import {
  getExecutionName,
  getProposer,
  isGlobal,
} from '../../../src/server/site/lane/global-records.ts';
import type { Origin } from '../../../src/server/service/records/origin.ts';
import type {
  ExecutionName,
  GlobalOperation,
  RedOperation,
} from '../../../src/server/service/records/records.ts';
import { isCovered, type Vector } from '../../../src/server/service/records/vector.ts';
import { ID_TABLE_LIMITS } from '../../../src/server/site/parts/lookups/id-table.ts';
import type { Hold, HoldTable } from '../../../src/server/site/lane/order/hold-table.ts';
import type { PartitionCertifier } from '../../../src/server/site/lane/order/partition-certifier.ts';
import type { SavedCommittedGlobal } from '../../../src/server/service/records/checkpoint.ts';
import type { GlobalCoordinator } from '../../../src/server/site/lane/requests/global-coordinator.ts';
import {
  getRowsWritten,
  LOG_ORIGINS,
  LOGS,
  PARTITIONS,
  RESEND_AFTER_MS,
  SITES,
  VECTOR_SIZE,
  type Parts,
  type WorldRecord,
} from './parts.ts';
import { saveAll } from '../saved-rows.ts';

interface GateItem {
  readonly record: WorldRecord;
  readonly decision: CertificationDecision;
}

/** A blue operation has no rows here. It is a cause of all that its site does later. */
export interface BlueOperation {
  readonly site: Origin;
  readonly vector: Vector;
}

/** What a restart finds, as text. */
export type SavedSite = string;

interface SavedState {
  readonly stable: Vector;
  readonly positions: number[];
  readonly gates: readonly (readonly GateItem[])[];
  readonly certifiers: readonly unknown[];
  readonly sections: readonly (readonly (readonly [
    string,
    readonly (readonly [string, unknown])[],
  ])[])[];
  readonly committed: readonly SavedCommittedGlobal[];
  readonly closed: readonly (readonly number[])[];
  readonly writers: readonly (readonly [string, readonly string[]])[];
  readonly executions: readonly string[];
}

/** What happens at a site that its clients may wait for. */
export interface SiteEvents {
  onApplied(operation: RedOperation): void;
  onClosed(id: string): void;
  /** An execution of this start ended without an effect. */
  onRejected(operation: RedOperation, byHold: boolean): void;
}

export class GlobalSite {
  readonly origin: Origin;
  readonly tables: readonly HoldTable[];
  readonly certifiers: readonly PartitionCertifier[];
  readonly coordinator: GlobalCoordinator;
  readonly positions = Array.from({ length: LOGS }, () => 0);
  /** By row: the executions that wrote it, in the order in which they were applied here. */
  readonly writers = new Map<string, string[]>();
  readonly executions = new Set<string>();
  /** Executions of which this start has seen a hold refused. */
  readonly refused = new Set<ExecutionName>();
  /** By ordinal of a site: blue operations that are stored here. They outlive a restart. */
  readonly received: BlueOperation[][];
  stable: number[] = Array.from({ length: VECTOR_SIZE }, () => 0);
  readonly #parts: Parts;
  readonly #gates: GateItem[][] = Array.from({ length: LOGS }, () => []);
  readonly #closed: Set<number>[] = Array.from({ length: LOGS }, () => new Set());
  readonly #finals: (number | undefined)[];
  readonly #events: SiteEvents;

  constructor(
    origin: Origin,
    parts: Parts,
    shared: {
      readonly received: BlueOperation[][];
      readonly finals: (number | undefined)[];
      readonly windowCommits: number;
    },
    events: SiteEvents,
  ) {
    this.origin = origin;
    this.#parts = parts;
    this.#events = events;
    this.received = shared.received;
    this.#finals = shared.finals;
    this.tables = LOG_ORIGINS.map((_, log) => new parts.HoldTable(PARTITIONS, log));
    const limits = { maxWindowCommits: shared.windowCommits, maxOutcomes: ID_TABLE_LIMITS };
    this.certifiers = LOG_ORIGINS.map(
      (log, partition) => new parts.Certifier(limits, log, this.tables[partition] as HoldTable),
    );
    this.coordinator = new parts.Coordinator({
      site: origin,
      resendAfterMs: RESEND_AFTER_MS,
      tables: this.tables,
      maxGlobals: 2,
    });
    for (const certifier of this.certifiers)
      for (const section of Object.values(certifier.sections)) saveAll(section);
  }

  get isIdle(): boolean {
    return this.#gates.every(({ length }) => length === 0);
  }

  get standing(): readonly Hold[] {
    return this.tables.flatMap(({ standing }) => [...standing.values()]);
  }

  isApplied(log: number, stamp: number): boolean {
    return this.#getStable(LOG_ORIGINS[log] as Origin) >= stamp;
  }

  getCoverage(snapshot: Vector): 'covered' | 'later' | 'never' {
    const isLost = snapshot.some((stamp, entry) => stamp > (this.#finals[entry] ?? Infinity));
    if (isLost) return 'never';
    return isCovered(snapshot, this.stable) ? 'covered' : 'later';
  }

  deliver(log: number, record: WorldRecord): void {
    this.positions[log] = (this.positions[log] ?? 0) + 1;
    if (record.kind === 'fence') {
      this.#closed[log]?.add(record.site);
      return;
    }
    const isVoid = this.#closed[log]?.has(getProposer(record)) === true;
    const decision: CertificationDecision = isVoid
      ? { kind: 'void' }
      : (this.certifiers[log] as PartitionCertifier).decide(record);
    this.#gates[log]?.push({ record, decision });
    if (record.kind === 'hold' && decision.kind === 'refuse')
      this.refused.add(getExecutionName(record.operation));
    const refused = this.coordinator.onDelivered(log, record, decision);
    if (refused !== undefined) this.#events.onRejected(refused, isHeld(decision));
    this.pass();
  }

  receive(operation: BlueOperation): void {
    this.received[operation.site]?.push(operation);
    this.pass();
  }

  /** The end of a lost stream is known. */
  onFinal(): void {
    this.coordinator.touchAll();
    this.pass();
  }

  pass(): void {
    while (this.#passBlue() || this.#gates.some((_, log) => this.#passRed(log)));
  }

  save(): SavedSite {
    const saved: SavedState = {
      stable: this.stable,
      positions: this.positions,
      gates: this.#gates,
      certifiers: this.certifiers.map((certifier) => certifier.save()),
      sections: this.certifiers.map(({ sections }) =>
        Object.entries(sections).map(([name, section]) => {
          return [name, saveAll(section).filter(([, value]) => value !== undefined)] as const;
        }),
      ),
      committed: this.coordinator.save(),
      closed: this.#closed.map((sites) => [...sites]),
      writers: [...this.writers],
      executions: [...this.executions],
    };
    return JSON.stringify(saved);
  }

  load(text: SavedSite): void {
    const saved = JSON.parse(text) as SavedState;
    this.stable = [...saved.stable];
    for (const [log, position] of saved.positions.entries()) this.positions[log] = position;
    for (const [log, gate] of saved.gates.entries()) this.#gates[log]?.push(...gate);
    for (const [log, certifier] of this.certifiers.entries()) {
      certifier.load(saved.certifiers[log]);
      for (const [name, rows] of saved.sections[log] ?? [])
        if (name !== 'holds' || this.#parts.savesHolds)
          certifier.sections[name]?.restore(new Map(rows));
      for (const site of saved.closed[log] ?? []) this.#closed[log]?.add(site);
    }
    this.coordinator.load(saved.committed);
    for (const [row, writers] of saved.writers) this.writers.set(row, [...writers]);
    for (const execution of saved.executions) this.executions.add(execution);
  }

  #passBlue(): boolean {
    let moved = false;
    for (let site = 1; site <= SITES; site += 1) {
      const next = this.received[site]?.find(
        ({ vector }) => (vector[site] ?? 0) > this.#getStable(site),
      );
      const stamp = next?.vector[site] ?? 0;
      if (next === undefined || stamp > (this.#finals[site] ?? Infinity)) continue;
      if (!isCovered(next.vector, this.stable, site, this.#finals)) continue;
      this.stable[site] = stamp;
      moved = true;
    }
    return moved;
  }

  #passRed(log: number): boolean {
    const [item] = this.#gates[log] ?? [];
    if (item === undefined || !this.#mayPass(log, item)) return false;
    this.#gates[log]?.shift();
    this.#apply(log, item);
    return true;
  }

  #mayPass(log: number, { record, decision }: GateItem): boolean {
    if (record.kind === 'fence') return true;
    const own = LOG_ORIGINS[log] as Origin;
    if (record.kind === 'operation' && !isCovered(record.snapshot, this.stable, own, this.#finals))
      return false;
    return this.#parts
      .findAwaitedStamps(record, decision)
      .every(([partition, stamp]) => this.isApplied(partition, stamp));
  }

  #apply(log: number, { record, decision }: GateItem): void {
    if (record.kind === 'operation' && decision.kind === 'commit') {
      const execution = getExecutionName(record);
      this.executions.add(execution);
      for (const key of getRowsWritten(record)) {
        const writers = this.writers.get(key);
        if (writers === undefined) this.writers.set(key, [execution]);
        else writers.push(execution);
      }
    }
    if ('stamp' in decision && decision.stamp !== undefined)
      this.stable[LOG_ORIGINS[log] as Origin] = decision.stamp;
    if (record.kind === 'operation' && decision.kind === 'commit') this.#events.onApplied(record);
    if (record.kind === 'close' && decision.kind === 'closed') this.#events.onClosed(record.id);
    // A global was reported when it was delivered.
    if (record.kind === 'operation' && decision.kind === 'reject' && !isGlobal(record))
      this.#events.onRejected(record, isHeld(decision));
  }

  #getStable(entry: number): number {
    return this.stable[entry] ?? 0;
  }
}

const isHeld = (decision: CertificationDecision): boolean =>
  'conflict' in decision && decision.conflict?.reason === 'held';

export type { GlobalOperation };
