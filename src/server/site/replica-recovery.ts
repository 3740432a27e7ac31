/**
 * How a replica is saved for a checkpoint, and how a start restores it: first the checkpoint, then
 * the entries of the site's own log behind it. Nothing of other sites or of the red log is needed.
 */
import {
  getSavedRed,
  type Checkpoint,
  type OwnState,
  type Section,
  type SharedState,
} from '../service/records/checkpoint.ts';
import type { HybridClock } from '../log/clock.ts';
import type {
  LocalEntry,
  OperationId,
  RedDelivered,
  SlotDecision,
} from '../service/records/records.ts';
import type { Activation } from './parts/activation.ts';
import type { BluePath } from './parts/blue/blue-path.ts';
import type { LoggedOperation } from './parts/blue/blue-streams.ts';
import type { ReplicaOptions } from './core/replica-port.ts';
import type { SiteState } from './core/site-state.ts';
import type { OperationLookups } from './parts/lookups/operation-lookup.ts';
import type { KnownStarts } from './parts/known-starts.ts';
import type { Membership } from './parts/membership.ts';
import type { RedPath } from './lane/red-path.ts';
import { DEFAULT_MACHINE_SIZES } from '../log/machine-sizes.ts';

/** The state of a replica as a checkpoint has it, in two parts. */
export interface SavedReplica {
  readonly sections: Checkpoint['sections'];
  readonly shared: SharedState;
  readonly own: OwnState;
}

export interface RecoveredReplica {
  readonly checkpoint?: SavedReplica | undefined;
  /**
   * Entries of the site's own log from position `start` on. Those before the checkpoint's cut are
   * kept for other sites.
   */
  readonly start: number;
  readonly entries: readonly LocalEntry[];
}

export const EMPTY_REPLICA: RecoveredReplica = { start: 0, entries: [] };

/** The parts of a replica that are saved. */
export interface SavedParts {
  readonly options: ReplicaOptions;
  readonly state: SiteState;
  readonly clock: HybridClock;
  readonly blue: BluePath;
  readonly red: RedPath;
  readonly membership: Membership;
  readonly activation: Activation;
  readonly lookups: OperationLookups;
  readonly starts: KnownStarts;
  /** The parts of the state that are saved row by row. */
  readonly sections: Readonly<Record<string, Section>>;
  readonly wallMs: number;
  /** Entries of the site's own log that are synced. */
  readonly syncedLength: number;
  restoreSlot(id: OperationId, hop: number, decision: SlotDecision): void;
}

/** How far the logs of a start go. */
export interface RecoveredLengths {
  readonly syncedLength: number;
  /** By partition: records of its red log that are known to be committed. */
  readonly provenRedCounts: readonly number[];
}

/** Saves the small parts of the state, which belong together with the changes of the sections. */
export function saveReplica(replica: SavedParts): Omit<SavedReplica, 'sections'> {
  const { state, clock, blue, red, membership, activation } = replica;
  const streams = blue.save();
  const change = membership.save();
  const { inForce, activated } = activation;
  const unsent = blue.streams.saveUnsent(replica.options.sizes ?? DEFAULT_MACHINE_SIZES);
  return {
    shared: {
      origins: replica.options.origins.save(),
      ...(change && { change }),
      ...(red.lanes.count > 1 && { membersPlace: membership.place }),
      ...(inForce && { inForce }),
      ...(red.lanes.count > 1 && activated && { activated }),
      stable: [...state.stable],
      applied: streams.map(({ synced, waiting }) => synced - waiting.length),
      digests: streams.map(({ digest }) => digest),
      ...(unsent.length > 0 && { unsent, savedAtMs: replica.wallMs }),
      red: red.lanes.main.order.save(),
      ...red.saveGlobals(),
      ...(red.lanes.count > 1 && {
        reds: red.lanes.all.slice(1).map(({ order }) => order.save()),
      }),
    },
    own: {
      syncedLength: replica.syncedLength,
      clock: clock.last,
      waiting: streams.map(({ waiting }) => waiting),
      terms: replica.starts.save(),
    },
  };
}

/** Restores a replica from its directory. */
export function restoreReplica(
  replica: SavedParts,
  { checkpoint, start, entries }: RecoveredReplica,
): RecoveredLengths {
  const containedCount = (checkpoint?.own.syncedLength ?? start) - start;
  const provenRedCounts: number[] = [];
  if (checkpoint !== undefined) {
    const contained = entries.slice(0, containedCount);
    loadCheckpoint(replica, checkpoint, getOwnOperations(contained, start));
    noteProven(provenRedCounts, getDelivered(checkpoint.shared));
  }
  let position = start + containedCount;
  for (const entry of entries.slice(containedCount)) {
    restoreEntry(replica, entry, position);
    if (entry.kind === 'blue' || entry.kind === 'delivered')
      noteProven(provenRedCounts, entry.redDelivered);
    position += 1;
  }
  return { syncedLength: position, provenRedCounts };
}

function loadCheckpoint(
  replica: SavedParts,
  { sections, shared, own }: SavedReplica,
  retained: readonly LoggedOperation[],
): void {
  replica.membership.load(shared.change, shared.membersPlace);
  replica.activation.load(shared.inForce, shared.activated);
  for (const [name, section] of Object.entries(replica.sections))
    section.restore(sections[name] ?? new Map());
  replica.state.loadStable(shared.stable);
  replica.clock.advanceTo(own.clock);
  for (const [site, term, directory] of own.terms ?? []) replica.starts.set(site, term, directory);
  const streams = shared.applied.map((applied, origin) => {
    const waiting = own.waiting[origin] ?? [];
    return {
      synced: applied + waiting.length,
      waiting,
      digest: shared.digests?.[origin],
    };
  });
  replica.blue.load(streams, retained);
  for (const { partition, order } of replica.red.lanes) {
    const saved = getSavedRed(shared, partition);
    if (saved !== undefined) order.load(saved);
  }
  replica.red.loadGlobals(shared.globals ?? []);
}

function restoreEntry(replica: SavedParts, entry: LocalEntry, position: number): void {
  switch (entry.kind) {
    case 'blue':
      return restoreBlue(replica, { operation: entry.operation, position });
    case 'slot':
      return replica.restoreSlot(entry.id, entry.hop, entry.decision);
    case 'expire':
      return void replica.lookups.slots.expire(entry.client, entry.upTo);
    case 'delivered':
      return;
    case 'term':
      return replica.starts.set(entry.site, entry.term, entry.directory);
  }
}

function restoreBlue(replica: SavedParts, logged: LoggedOperation): void {
  const { id, hop, site, reply, vector } = logged.operation;
  replica.blue.restore(logged);
  if (site !== replica.options.site || hop === undefined) return;
  replica.restoreSlot(id, hop, { kind: 'record', reply, vector });
}

/** Notes how many records of each red log are proven to be committed. */
function noteProven(counts: number[], delivered: RedDelivered = 0): void {
  const found = typeof delivered === 'number' ? [delivered] : delivered;
  for (const [partition, count] of found.entries())
    counts[partition] = Math.max(counts[partition] ?? 0, count);
}

function getDelivered({ red, reds = [] }: SharedState): readonly number[] {
  return [red, ...reds].map(({ deliveredCount }) => deliveredCount);
}

function getOwnOperations(entries: readonly LocalEntry[], start: number): LoggedOperation[] {
  return entries.flatMap((entry, index) =>
    entry.kind === 'blue' ? [{ operation: entry.operation, position: start + index }] : [],
  );
}
