/**
 * Encodes entries of logs in MessagePack, and decodes them: their version, then arrays that begin
 * with the kind. A blue operation leaves out what it shares with the one before it in the same
 * bytes.
 */
import type { Effect } from '../../../service/records/effect.ts';
import { formatOperationId } from '../../../site/core/operation-id.ts';
import type { Origin } from '../../../service/records/origin.ts';
import type {
  BlueEntry,
  BlueOperation,
  LocalEntry,
  RedDelivered,
} from '../../../service/records/records.ts';
import { FORMAT_VERSION } from './file-names.ts';
import { FRAME_DEPTH, reader, writer } from './value-text.ts';
import { getPartitionOf, getRedKind, type LogKind } from '../../../log/local-log.ts';

export interface LoggedEntry {
  readonly log: LogKind;
  readonly entry: unknown;
}

/**
 * The kind of an entry, as the first element. Behind the red log of `main` are those of the other
 * partitions, in order.
 */
const ENTRY_KINDS = { blue: 0, local: 1, red: 2 } as const;

function getEntryKind(log: LogKind): number {
  if (log === 'local' || log === 'red') return ENTRY_KINDS[log];
  return ENTRY_KINDS.red + (getPartitionOf(log) ?? 0);
}

/** What was last written, and need not be repeated. */
class LastWritten {
  client: string | undefined;
  table: string | undefined;
  field: string | undefined;
  action: string | undefined;
}

/**
 * Packs entries behind `headBytes` free bytes, up to `maxBytes`, but at least one. Returns how many
 * were packed.
 */
export function packEntries(
  entries: readonly LoggedEntry[],
  headBytes: number,
  maxBytes: number,
): { readonly bytes: Uint8Array; readonly count: number } {
  let count = 0;
  const reported = new LastWritten();
  writer.beginWriting();
  try {
    writer.reserveHead(headBytes);
    writer.writeValue(FORMAT_VERSION, 0);
    do writeEntry(entries[count++] as LoggedEntry, reported);
    while (count < entries.length && writer.getSize() < maxBytes);
    return { bytes: writer.takeWritten(), count };
  } catch (error) {
    writer.rewindWriter();
    throw error;
  }
}

function writeEntry({ log, entry }: LoggedEntry, reported: LastWritten): void {
  if (isBlue(entry)) return writeBlue(entry, reported);
  writer.writeArrayHead(2);
  writer.writeValue(getEntryKind(log), 0);
  writePart(entry);
}

export function unpackEntries(bytes: Uint8Array): LoggedEntry[] {
  const entries: LoggedEntry[] = [];
  const reported = new LastWritten();
  reader.openFrame(bytes);
  try {
    const version = bytes.length === 0 ? FORMAT_VERSION : reader.readValue(FRAME_DEPTH);
    if (version !== FORMAT_VERSION) {
      throw new Error(
        `a group of entries has format ${String(version)}; this version reads format ${FORMAT_VERSION}`,
      );
    }
    while (reader.getPosition() < bytes.length)
      entries.push(readEntry(reader.readValue(FRAME_DEPTH) as PackedEntry, reported));
    return entries;
  } finally {
    reader.closeFrame();
  }
}

type PackedEntry =
  | readonly [
      kind: typeof ENTRY_KINDS.blue,
      operation: ListedOperation,
      redDelivered?: RedDelivered | null,
      /** Left out if it is the same as last time. */
      client?: string,
    ]
  | readonly [kind: number, entry: unknown];

const isBlueEntry = (
  packed: PackedEntry,
): packed is Extract<PackedEntry, { 0: typeof ENTRY_KINDS.blue }> => packed[0] === ENTRY_KINDS.blue;

function readEntry(packed: PackedEntry, reported: LastWritten): LoggedEntry {
  if (!isBlueEntry(packed)) {
    const [kind, entry] = packed;
    const log = kind === ENTRY_KINDS.local ? 'local' : getRedKind(kind - ENTRY_KINDS.red);
    return { log, entry };
  }
  const [, listed, redDelivered = null, client] = packed;
  if (client !== undefined) reported.client = client;
  const operation = readOperation(listed, reported);
  const entry: BlueEntry =
    redDelivered === null ? { kind: 'blue', operation } : { kind: 'blue', operation, redDelivered };
  return { log: 'local', entry };
}

function isBlue(entry: unknown): entry is BlueEntry {
  return (
    typeof entry === 'object' && entry !== null && (entry as Partial<LocalEntry>).kind === 'blue'
  );
}

/** The value is left out if there is none, and the field if it is the same as last time. */
type ListedEffect =
  | readonly [table: string, key: string, field: string, action: string, value?: unknown]
  | readonly [key: string, value?: unknown];

type ListedOperation = readonly [
  /** A number, if it belongs to the client that was written last. */
  id: string | number,
  site: Origin,
  sequence: number,
  vector: readonly number[],
  shadow: string | null,
  effects: readonly ListedEffect[],
  reply: unknown,
  hop: number | null,
  meta?: unknown,
];

function writeBlue(
  { operation, redDelivered, client, number }: BlueEntry,
  reported: LastWritten,
): void {
  const isNewClient = client !== undefined && client !== reported.client;
  const parts = isNewClient ? 4 : redDelivered === undefined ? 2 : 3;
  writer.writeArrayHead(parts);
  writer.writeValue(ENTRY_KINDS.blue, 0);
  writeOperation(operation, client === undefined ? operation.id : (number as number), reported);
  if (parts > 2) writePart(redDelivered ?? null);
  if (!isNewClient) return;
  writePart(client);
  reported.client = client;
}

/**
 * Writes a `ListedOperation` part by part. Creating a list for the writer would cost as much as the
 * writing.
 */
function writeOperation(
  operation: BlueOperation,
  id: string | number,
  reported: LastWritten,
): void {
  const { site, sequence, vector, shadow, effects, reply, hop } = operation;
  writer.writeArrayHead(reply.meta === undefined ? 8 : 9);
  writePart(id);
  writePart(site);
  writePart(sequence);
  writePart(vector);
  writePart(shadow ?? null);
  writer.writeArrayHead(effects.length);
  for (const effect of effects) writeEffect(effect, reported);
  writePart(reply.value);
  writePart(hop ?? null);
  if (reply.meta !== undefined) writePart(reply.meta);
}

function writeEffect(effect: Effect, reported: LastWritten): void {
  const { table, key, field, action } = effect;
  const hasValue = 'value' in effect;
  const isRepeated =
    table === reported.table && field === reported.field && action === reported.action;
  writer.writeArrayHead((isRepeated ? 1 : 4) + (hasValue ? 1 : 0));
  if (isRepeated) writePart(key);
  else {
    writePart(table);
    writePart(key);
    writePart(field);
    writePart(action);
    reported.table = table;
    reported.field = field;
    reported.action = action;
  }
  if (hasValue) writePart(effect.value);
}

/** Writes a part, which may be as deep as values on the wire. */
function writePart(part: unknown): void {
  writer.writeValue(part, FRAME_DEPTH);
}

function readOperation(listed: ListedOperation, reported: LastWritten): BlueOperation {
  const [id, site, sequence, vector, shadow, effects, value, hop, meta] = listed;
  return {
    id: typeof id === 'number' ? formatOperationId(reported.client as string, id) : id,
    site,
    ...(shadow === null ? {} : { shadow }),
    effects: effects.map((effect) => readEffect(effect, reported)),
    reply:
      meta === undefined ? { value } : { value, meta: meta as Readonly<Record<string, unknown>> },
    sequence,
    vector,
    ...(hop === null ? {} : { hop }),
  };
}

function readEffect(listed: ListedEffect, reported: LastWritten): Effect {
  if (listed.length > 2) {
    const [table, key, field, action, value] = listed as Extract<
      ListedEffect,
      { readonly 3: string }
    >;
    reported.table = table;
    reported.field = field;
    reported.action = action;
    return listed.length < 5 ? { table, key, field, action } : { table, key, field, action, value };
  }
  const [key, value] = listed as Exclude<ListedEffect, { readonly 3: string }>;
  const { table, field, action } = reported as Required<{
    [K in 'table' | 'field' | 'action']: string;
  }>;
  return listed.length < 2 ? { table, key, field, action } : { table, key, field, action, value };
}
