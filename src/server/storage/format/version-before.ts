/**
 * What format 6 wrote, as it is today; formats 4 and 5, of which files may be left in a folder of format 6, say it alike.
 * What is written today is read elsewhere: with the next format this file is made anew.
 *
 * - A checkpoint was not in two parts: the state beside its sections was in one piece, and the slots were called so. It said
 *   how much of the red log was delivered, and neither where that ends nor what log it is.
 * - What vectors, their entries and origins were is in `MOVED`: it is given all of them, wherever they stand.
 */
import type { LogEntry, SavedLog } from '../../log/log.ts';
import type { LoggedEntry } from './logged-entry.ts';
import type { Checkpoint, GateItem, SavedRedPath, SectionRows } from '../../records/checkpoint.ts';
import type { SavedPlace } from '../../records/effect.ts';
import type { BlueOperation, LocalEntry, RedRecord, SlotDecision } from '../../records/records.ts';
import type { SavedSite } from '../../log/stored-site.ts';
import { RED } from '../../records/origin.ts';
import type { Origin } from '../../records/origin.ts';
import { redFirst } from '../../records/vector.ts';
import type { Vector } from '../../records/vector.ts';
import type { TableShapes } from './table-shapes.ts';

/** What has another form or another number today. */
export interface Moved {
  /** A vector: one stamp a site, then the red stamp. */
  vector(before: Vector): Vector;
  /** The place in vectors of the entry that covers an operation, among so many entries. */
  entry(before: number, entryCount: number): Origin;
  /** The site that an operation comes from, or a proposal. */
  origin(before: number): Origin;
}

/** Sites were counted from 0, and the red entry stood last. */
export const MOVED: Moved = {
  vector: redFirst,
  entry: (before, entryCount) => (before === entryCount - 1 ? RED : siteBefore(before)),
  origin: siteBefore,
};

function siteBefore(place: number): Origin {
  return (place + 1) as Origin;
}

/** An entry of either log. */
export function entryFromBefore({ log, entry }: LoggedEntry, moved: Moved = MOVED): LoggedEntry {
  if (log === 'red') return { log, entry: redEntry(entry as LogEntry<RedRecord>, moved) };
  return { log, entry: localEntry(entry as LocalEntry, moved) };
}

/** The state beside the sections, as it was. */
interface SiteBefore {
  readonly replica: {
    readonly synced: number;
    readonly stable: Vector;
    readonly clock: number;
    readonly streams: readonly { readonly synced: number; readonly waiting: readonly BlueOperation[] }[];
    readonly red: SavedRedPath;
  };
  readonly log: Pick<SavedLog, 'delivered' | 'progress'>;
}

/** A checkpoint of a service with these tables. */
export function checkpointFromBefore(
  { sections, rest }: Checkpoint,
  tables: TableShapes,
  moved: Moved = MOVED,
): Checkpoint {
  const { replica, log } = rest as SiteBefore;
  const { stable, streams, red } = replica;
  const waitingOf = streams.map((stream) => stream.waiting.map((operation) => blueOperation(operation, moved)));
  const gate = red.gate.map(({ record, decision }): GateItem => ({ record: redRecord(record, moved), decision }));
  const applied = byOrdinal(
    streams.map(({ synced, waiting: { length } }) => synced - length),
    0,
    moved,
  );
  const waiting = byOrdinal<readonly BlueOperation[]>(waitingOf, [], moved);
  const progress = log.progress.map(([origin, epoch, next]) => [moved.origin(origin), epoch, next] as const);
  const site: SavedSite = {
    shared: {
      replica: { stable: moved.vector(stable), applied, red: { ...red, gate } },
      log: { delivered: log.delivered, position: { seq: log.delivered, index: 0 }, progress },
    },
    own: { synced: replica.synced, clock: replica.clock, waiting },
  };
  const place = (at: SavedPlace): SavedPlace => movedPlace(at, stable.length, moved);
  const renamed = Object.entries(sections).map(([name, rows]) => {
    const today = SECTIONS[name] ?? name;
    return [today, mapped(rows, (value, row) => section(name, { value, row, tables, place, moved }))] as const;
  });
  return { sections: Object.fromEntries(renamed), rest: site };
}

/** What stood in a list by the places of sites; `none` where there is nothing of an ordinal. */
function byOrdinal<T>(before: readonly T[], none: T, moved: Moved): readonly T[] {
  const today: T[] = [];
  for (const [place, value] of before.entries()) today[moved.origin(place)] = value;
  return Array.from(today, (value) => value ?? none);
}

/** Sections that had other names. */
const SECTIONS: Readonly<Record<string, string>> = { slots: 'own.slots', 'slots.clients': 'own.slots.clients' };

function mapped(rows: SectionRows, of: (value: unknown, row: string) => unknown): SectionRows {
  return new Map([...rows].map(([row, value]) => [row, of(value, row)]));
}

interface SavedValue {
  readonly value: unknown;
  readonly row: string;
  readonly tables: TableShapes;
  readonly place: (at: SavedPlace) => SavedPlace;
  readonly moved: Moved;
}

function section(name: string, saved: SavedValue): unknown {
  switch (name) {
    case 'rows':
      return tableRow(saved);
    case 'slots':
      return slots(saved);
    case 'commits':
      return commit(saved);
    default:
      // Endings, answers and clients name neither sites nor stamps of one.
      return saved.value;
  }
}

/** A row of a table, `[fields, writtenAt?, isRed?, removedAt?]`; or a part of a field of it, in which there are values only. */
function tableRow({ value, row, tables, place }: SavedValue): unknown {
  const table = tables[row.slice(0, row.indexOf('\u0000'))];
  if (table === undefined) return value;
  const [fields, writtenAt, isRed, removedAt] = value as [Record<string, unknown> | null, ...(SavedPlace | null)[]];
  const at = (saved: SavedPlace | null): SavedPlace | null => saved && place(saved);
  const states = fields && Object.entries(fields).map(([name, state]) => [name, fieldState(state, name)] as const);
  const today = [states && Object.fromEntries(states), writtenAt && at(writtenAt), isRed, removedAt && at(removedAt)];
  return today.slice(0, (value as unknown[]).length);

  function fieldState(state: unknown, field: string): unknown {
    const kind = table?.fields[field] ?? '';
    // What was never written.
    if (state === undefined || state === null) return state;
    return WITH_PLACES[kind]?.(state, { place, isRemovable: table?.removable === true }) ?? state;
  }
}

interface FieldPlaces {
  readonly place: (at: SavedPlace) => SavedPlace;
  readonly isRemovable: boolean;
}

/** The kinds of fields that keep places, and where. */
const WITH_PLACES: Readonly<Record<string, (state: unknown, places: FieldPlaces) => unknown>> = {
  register: (state, { place }) => {
    const [value, at] = state as readonly [unknown, SavedPlace];
    return [value, place(at)];
  },
  counter: (state, { place, isRemovable }) =>
    isRemovable ? (state as readonly (readonly [number, SavedPlace])[]).map(([n, at]) => [n, place(at)]) : state,
  log: (state, { place }) =>
    (state as readonly (readonly [unknown, SavedPlace])[]).map(([value, at]) => [value, place(at)]),
  set: (state, { place }) =>
    (state as readonly (readonly [unknown, readonly SavedPlace[]])[]).map(([element, tags]) => [
      element,
      tags.map(place),
    ]),
};

/** The slots of an operation: `[place in the table, [[hop, decision], …]]`. */
function slots({ value, moved }: SavedValue): unknown {
  const [at, decided] = value as readonly [number, readonly (readonly [number, SlotDecision])[]];
  return [at, decided.map(([hop, decision]) => [hop, slotDecision(decision, moved)])];
}

/** A commit of the window: `[effects, created, by?]`; format 5 does not say whose it is. */
function commit({ value, moved }: SavedValue): unknown {
  const [effects, created, by] = value as readonly [unknown, unknown, { readonly site: number }?];
  return by === undefined ? value : [effects, created, { ...by, site: moved.origin(by.site) }];
}

function movedPlace([time, site, entry, version]: SavedPlace, entryCount: number, moved: Moved): SavedPlace {
  return [time, moved.origin(site), moved.entry(entry, entryCount), version];
}

function localEntry(entry: LocalEntry, moved: Moved): LocalEntry {
  switch (entry.kind) {
    case 'blue':
      return { ...entry, operation: blueOperation(entry.operation, moved) };
    case 'slot':
      return { ...entry, decision: slotDecision(entry.decision, moved) };
    case 'expire':
    case 'term':
      return entry;
  }
}

function redEntry(entry: LogEntry<RedRecord>, moved: Moved): LogEntry<RedRecord> {
  return { ...entry, origin: moved.origin(entry.origin), record: redRecord(entry.record, moved) };
}

function redRecord(record: RedRecord, moved: Moved): RedRecord {
  const site = moved.origin(record.site);
  return record.kind === 'operation'
    ? { ...record, site, snapshot: moved.vector(record.snapshot) }
    : { ...record, site };
}

/** The shadow operation of a floor, whose answer is a vector. */
const FLOOR = '';

function blueOperation(operation: BlueOperation, moved: Moved): BlueOperation {
  const { site, vector, shadow, reply } = operation;
  const today = { ...operation, site: moved.origin(site), vector: moved.vector(vector) };
  return shadow === FLOOR ? { ...today, reply: { value: moved.vector(reply.value as Vector) } } : today;
}

function slotDecision(decision: SlotDecision, moved: Moved): SlotDecision {
  switch (decision.kind) {
    case 'record':
      return { ...decision, vector: moved.vector(decision.vector) };
    case 'claim':
      return { ...decision, site: moved.origin(decision.site) };
    case 'handover':
      return decision;
  }
}
