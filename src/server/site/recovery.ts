/**
 * How a site is saved for a checkpoint, and how a start restores it: first the checkpoint, then
 * the entries of the site's own log behind it. Nothing of other sites or of the red log is needed.
 */
import {
  getSavedRed,
  isStored,
  type Checkpoint,
  type OwnState,
  type SavedSection,
  type SharedState,
} from '../service/records/checkpoint.ts';
import type { LocalEntry, RedDelivered } from '../service/records/records.ts';
import type { LoggedOperation } from './parts/blue/blue-streams.ts';
import { DEFAULT_MACHINE_SIZES } from '../log/machine-sizes.ts';
import type { WholeSite } from './whole-site.ts';

/** The state of a site as a checkpoint has it, in two parts. */
export interface SavedParts {
  readonly sections: Checkpoint['sections'];
  readonly shared: SharedState;
  readonly own: OwnState;
}

export interface RecoveredParts {
  readonly checkpoint?: SavedParts | undefined;
  /** What the store of rows has. Absent if all rows are in memory. */
  readonly rows?: SavedSection | undefined;
  /**
   * Entries of the site's own log from position `start` on. Those before the checkpoint's cut are
   * kept for other sites.
   */
  readonly start: number;
  readonly entries: readonly LocalEntry[];
}

/** How far the logs of a start go. */
export interface RecoveredLengths {
  readonly syncedLength: number;
  /** By partition: records of its red log that are known to be committed. */
  readonly provenRedCounts: readonly number[];
}

/** Saves the small parts of the state, which belong together with the changes of the sections. */
export function saveParts(site: WholeSite): Omit<SavedParts, 'sections'> {
  const { state, clock, blue, red, membership, activation } = site;
  const streams = blue.save();
  const change = membership.save();
  const { inForce, activated } = activation;
  const unsent = blue.streams.saveUnsent(site.options.sizes ?? DEFAULT_MACHINE_SIZES);
  return {
    shared: {
      origins: site.options.origins.save(),
      ...(change && { change }),
      ...(red.lanes.count > 1 && { membersPlace: membership.place }),
      ...(inForce && { inForce }),
      ...(red.lanes.count > 1 && activated && { activated }),
      stable: [...state.stable],
      applied: streams.map(({ synced, waiting }) => synced - waiting.length),
      digests: streams.map(({ digest }) => digest),
      ...(unsent.length > 0 && { unsent, savedAtMs: site.wallMs }),
      red: red.lanes.main.order.save(),
      ...red.saveGlobals(),
      ...(red.lanes.count > 1 && {
        reds: red.lanes.all.slice(1).map(({ order }) => order.save()),
      }),
    },
    own: {
      syncedLength: site.syncedLength,
      clock: clock.last,
      waiting: streams.map(({ waiting }) => waiting),
      terms: site.starts.save(),
      memoryBytes: site.memory.savedBytes,
    },
  };
}

/** Restores a site from its directory. */
export function restoreParts(
  site: WholeSite,
  { checkpoint, rows, start, entries }: RecoveredParts,
): RecoveredLengths {
  if (rows !== undefined) site.state.store.open(rows, { cacheBytes: site.options.cacheBytes });
  const containedCount = (checkpoint?.own.syncedLength ?? start) - start;
  const provenRedCounts: number[] = [];
  if (checkpoint !== undefined) {
    const contained = entries.slice(0, containedCount);
    loadCheckpoint(site, checkpoint, getOwnOperations(contained, start));
    noteProven(provenRedCounts, getDelivered(checkpoint.shared));
  }
  let position = start + containedCount;
  for (const entry of entries.slice(containedCount)) {
    restoreEntry(site, entry, position);
    if (entry.kind === 'blue' || entry.kind === 'delivered')
      noteProven(provenRedCounts, entry.redDelivered);
    position += 1;
  }
  return { syncedLength: position, provenRedCounts };
}

function loadCheckpoint(
  site: WholeSite,
  { sections, shared, own }: SavedParts,
  retained: readonly LoggedOperation[],
): void {
  site.membership.load(shared.change, shared.membersPlace);
  site.activation.load(shared.inForce, shared.activated);
  for (const [name, section] of Object.entries(site.sections))
    if (!isStored(section) || !section.isOpen) section.restore(sections[name] ?? new Map());
  site.state.loadStable(shared.stable);
  site.clock.advanceTo(own.clock);
  for (const [peer, term, directory] of own.terms ?? []) site.starts.set(peer, term, directory);
  const streams = shared.applied.map((applied, origin) => {
    const waiting = own.waiting[origin] ?? [];
    return {
      synced: applied + waiting.length,
      waiting,
      digest: shared.digests?.[origin],
    };
  });
  site.blue.load(streams, retained);
  for (const { partition, order } of site.red.lanes) {
    const saved = getSavedRed(shared, partition);
    if (saved !== undefined) order.load(saved);
  }
  site.red.loadGlobals(shared.globals ?? []);
}

function restoreEntry(site: WholeSite, entry: LocalEntry, position: number): void {
  switch (entry.kind) {
    case 'blue':
      return restoreBlue(site, { operation: entry.operation, position });
    case 'slot':
      return site.restoreSlot(entry.id, entry.hop, entry.decision);
    case 'expire':
      return void site.lookups.slots.expire(entry.client, entry.upTo);
    case 'delivered':
      return;
    case 'term':
      return site.starts.set(entry.site, entry.term, entry.directory);
  }
}

function restoreBlue(site: WholeSite, logged: LoggedOperation): void {
  const { id, hop, reply, vector } = logged.operation;
  site.blue.restore(logged);
  if (logged.operation.site !== site.options.site || hop === undefined) return;
  site.restoreSlot(id, hop, { kind: 'record', reply, vector });
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
