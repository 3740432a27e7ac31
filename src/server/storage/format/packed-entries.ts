/**
 * Entries of logs in MessagePack, and back: the version that they are written in, then one after the other, each an array
 * that begins with what it is. A blue operation, of which logs are full, stands as a list of its parts, without their
 * names, and without what the operation before it in the same bytes said too: whose it is, which field it changes and how.
 * Whatever else there is stands as it is.
 */
import type { Effect } from '../../records/effect.ts';
import { operationId } from '../../records/operation-id.ts';
import type { Origin } from '../../records/origin.ts';
import type { BlueEntry, BlueOperation, LocalEntry } from '../../records/records.ts';
import { FORMAT } from './names.ts';
import { OUTERMOST, reader, writer } from './values.ts';
import type { LogKind } from '../../log/log-id.ts';

/** An entry and its log. */
export interface LoggedEntry {
  readonly log: LogKind;
  readonly entry: unknown;
}

/** As many of the entries, from the first one on, as there are in `bytes`. */
export interface Packed {
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** What an entry is, as it stands before it. */
const KINDS = { blue: 0, local: 1, red: 2 } as const;

/** What was said last in the bytes, and need not be said again. */
interface Said {
  client: string | undefined;
  table: string | undefined;
  field: string | undefined;
  action: string | undefined;
}

const nothingSaid = (): Said => ({ client: undefined, table: undefined, field: undefined, action: undefined });

/**
 * Packs entries, of which there is one at least, behind `headBytes` that are left free: until there are `bytesMax`, or
 * no more.
 */
export function pack(entries: readonly LoggedEntry[], headBytes: number, bytesMax: number): Packed {
  let count = 0;
  const said = nothingSaid();
  const bytes = written(() => {
    writer.leaveFree(headBytes);
    writer.writeValue(FORMAT, 0);
    do writeEntry(entries[count++] as LoggedEntry, said);
    while (count < entries.length && writer.size() < bytesMax);
  });
  return { bytes, count };
}

function writeEntry({ log, entry }: LoggedEntry, said: Said): void {
  if (isBlue(entry)) return writeBlue(entry, said);
  writer.writeArrayHead(2);
  writer.writeValue(KINDS[log], 0);
  write(entry);
}

/** The entries that were packed. */
export function unpack(bytes: Uint8Array): LoggedEntry[] {
  const entries: LoggedEntry[] = [];
  const said = nothingSaid();
  reader.open(bytes);
  try {
    const version = bytes.length === 0 ? FORMAT : reader.readValue(OUTERMOST);
    if (version !== FORMAT) {
      throw new Error(`a group of entries has format ${String(version)}; this version reads format ${FORMAT}`);
    }
    while (reader.position() < bytes.length) entries.push(entryFrom(reader.readValue(OUTERMOST) as PackedEntry, said));
    return entries;
  } finally {
    reader.close();
  }
}

type PackedEntry =
  | readonly [
      kind: typeof KINDS.blue,
      operation: ListedOperation,
      redDelivered?: number | null,
      /** Unless it is the one that was said last. */
      client?: string,
    ]
  | readonly [kind: typeof KINDS.local | typeof KINDS.red, entry: unknown];

function entryFrom(packed: PackedEntry, said: Said): LoggedEntry {
  if (packed[0] !== KINDS.blue) return { log: packed[0] === KINDS.red ? 'red' : 'local', entry: packed[1] };
  const [, listed, redDelivered = null, client] = packed;
  if (client !== undefined) said.client = client;
  const operation = operationFrom(listed, said);
  const entry: BlueEntry =
    redDelivered === null ? { kind: 'blue', operation } : { kind: 'blue', operation, redDelivered };
  return { log: 'local', entry };
}

function isBlue(entry: unknown): entry is BlueEntry {
  return typeof entry === 'object' && entry !== null && (entry as Partial<LocalEntry>).kind === 'blue';
}

/** The value is left out where there is none, and which field it is where that was said last. */
type ListedEffect =
  | readonly [table: string, key: string, field: string, action: string, value?: unknown]
  | readonly [key: string, value?: unknown];

type ListedOperation = readonly [
  /** As a number, of the client that was said last. */
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

/** What `write` writes. */
function written(write: () => void): Uint8Array {
  writer.begin();
  try {
    write();
    return writer.written();
  } catch (error) {
    writer.rewind();
    throw error;
  }
}

function writeBlue({ operation, redDelivered, client, number }: BlueEntry, said: Said): void {
  const isNewClient = client !== undefined && client !== said.client;
  const parts = isNewClient ? 4 : redDelivered === undefined ? 2 : 3;
  writer.writeArrayHead(parts);
  writer.writeValue(KINDS.blue, 0);
  writeOperation(operation, client === undefined ? operation.id : (number as number), said);
  if (parts > 2) write(redDelivered ?? null);
  if (!isNewClient) return;
  write(client);
  said.client = client;
}

/** Writes a `ListedOperation` part by part: a list of the parts, made for the writer, costs as much as the writing. */
function writeOperation(operation: BlueOperation, id: string | number, said: Said): void {
  const { site, sequence, vector, shadow, effects, reply, hop } = operation;
  writer.writeArrayHead(reply.meta === undefined ? 8 : 9);
  write(id);
  write(site);
  write(sequence);
  write(vector);
  write(shadow ?? null);
  writer.writeArrayHead(effects.length);
  for (const effect of effects) writeEffect(effect, said);
  write(reply.value);
  write(hop ?? null);
  if (reply.meta !== undefined) write(reply.meta);
}

/** Writes a `ListedEffect`. */
function writeEffect(effect: Effect, said: Said): void {
  const { table, key, field, action } = effect;
  const hasValue = 'value' in effect;
  const isSaid = table === said.table && field === said.field && action === said.action;
  writer.writeArrayHead((isSaid ? 1 : 4) + (hasValue ? 1 : 0));
  if (isSaid) write(key);
  else {
    write(table);
    write(key);
    write(field);
    write(action);
    said.table = table;
    said.field = field;
    said.action = action;
  }
  if (hasValue) write(effect.value);
}

/** Writes a part, which may be as deep as values on the wire. */
function write(part: unknown): void {
  writer.writeValue(part, OUTERMOST);
}

function operationFrom(listed: ListedOperation, said: Said): BlueOperation {
  const [id, site, sequence, vector, shadow, effects, value, hop, meta] = listed;
  return {
    id: typeof id === 'number' ? operationId(said.client as string, id) : id,
    site,
    ...(shadow === null ? {} : { shadow }),
    effects: effects.map((effect) => effectFrom(effect, said)),
    reply: meta === undefined ? { value } : { value, meta: meta as Readonly<Record<string, unknown>> },
    sequence,
    vector,
    ...(hop === null ? {} : { hop }),
  };
}

function effectFrom(listed: ListedEffect, said: Said): Effect {
  if (listed.length > 2) {
    const [table, key, field, action, value] = listed as Extract<ListedEffect, { readonly 3: string }>;
    said.table = table;
    said.field = field;
    said.action = action;
    return listed.length < 5 ? { table, key, field, action } : { table, key, field, action, value };
  }
  const [key, value] = listed as Exclude<ListedEffect, { readonly 3: string }>;
  const { table, field, action } = said as Required<{ [K in 'table' | 'field' | 'action']: string }>;
  return listed.length < 2 ? { table, key, field, action } : { table, key, field, action, value };
}
