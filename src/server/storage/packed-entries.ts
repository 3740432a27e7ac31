/**
 * Entries of logs in MessagePack, and back: one after the other, each an array that begins with what it is. A blue
 * operation, of which logs are full, stands as a list of its parts, without their names; whatever else there is stands
 * as it is.
 *
 * Sites of one process hand each other the same objects, so that an operation need be written out only once for all of
 * their logs.
 */
import * as reader from '../../protocol/msgpack-reader.ts';
import * as writer from '../../protocol/msgpack-writer.ts';
import type { Effect } from '../redblue/effect.ts';
import type { BlueOperation, LocalEntry } from '../redblue/records.ts';
import type { SiteLogName } from '../redblue/site-machine.ts';
import { OUTERMOST } from './plain-text.ts';

/** An entry and its log. */
export interface LoggedEntry {
  readonly log: SiteLogName;
  readonly entry: unknown;
}

/** As many of the entries, from the first one on, as there are in `bytes`. */
export interface Packed {
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** What an entry is, as it stands before it. */
const KINDS = { blue: 0, local: 1, red: 2 } as const;

/** Writes entries out. */
export class EntryPacker {
  readonly #shared: WeakMap<object, Uint8Array> | undefined;

  /** `isShared` where several sites write the same objects. */
  constructor(isShared = false) {
    if (isShared) this.#shared = new WeakMap();
  }

  /**
   * Packs entries, of which there is one at least, behind `headBytes` that are left free: until there are `bytesMax`, or
   * no more of them.
   */
  pack(entries: readonly LoggedEntry[], headBytes: number, bytesMax: number): Packed {
    if (this.#shared !== undefined) this.#packShared(entries, bytesMax, this.#shared);
    let count = 0;
    const bytes = written(() => {
      writer.leaveFree(headBytes);
      do this.#write(entries[count++] as LoggedEntry);
      while (count < entries.length && writer.size() < bytesMax);
    });
    return { bytes, count };
  }

  #write({ log, entry }: LoggedEntry): void {
    if (!isBlue(entry)) {
      writer.writeArrayHead(2);
      writer.writeValue(KINDS[log], 0);
      writer.writeValue(entry, OUTERMOST);
      return;
    }
    // The entries differ from site to site; the operation in them does not.
    const { operation, redDelivered } = entry;
    writer.writeArrayHead(redDelivered === undefined ? 2 : 3);
    writer.writeValue(KINDS.blue, 0);
    const packed = this.#shared?.get(operation);
    if (packed === undefined) writeOperation(operation);
    else writer.writeEncoded(packed);
    if (redDelivered !== undefined) writer.writeValue(redDelivered, 0);
  }

  /** Beforehand, since nothing can be written in the middle of something else. */
  #packShared(entries: readonly LoggedEntry[], bytesMax: number, shared: WeakMap<object, Uint8Array>): void {
    let bytes = 0;
    for (const { entry } of entries) {
      if (bytes >= bytesMax) return;
      if (!isBlue(entry)) continue;
      const { operation } = entry;
      const packed = shared.get(operation) ?? written(() => writeOperation(operation));
      shared.set(operation, packed);
      bytes += packed.length;
    }
  }
}

/** The entries that were packed. */
export function unpack(bytes: Uint8Array): LoggedEntry[] {
  const entries: LoggedEntry[] = [];
  reader.open(bytes);
  try {
    while (reader.position() < bytes.length) entries.push(entryFrom(reader.readValue(OUTERMOST) as PackedEntry));
    return entries;
  } finally {
    reader.close();
  }
}

type PackedEntry =
  | readonly [kind: typeof KINDS.blue, operation: ListedOperation, redDelivered?: number]
  | readonly [kind: typeof KINDS.local | typeof KINDS.red, entry: unknown];

function entryFrom(packed: PackedEntry): LoggedEntry {
  if (packed[0] !== KINDS.blue) return { log: packed[0] === KINDS.red ? 'red' : 'local', entry: packed[1] };
  const [, listed, redDelivered] = packed;
  const operation = operationFrom(listed);
  const entry: BlueEntry =
    redDelivered === undefined ? { kind: 'blue', operation } : { kind: 'blue', operation, redDelivered };
  return { log: 'local', entry };
}

type BlueEntry = LocalEntry & { readonly kind: 'blue' };

function isBlue(entry: unknown): entry is BlueEntry {
  return typeof entry === 'object' && entry !== null && (entry as Partial<LocalEntry>).kind === 'blue';
}

/** The value is left out where there is none. */
type ListedEffect = readonly [table: string, key: string, field: string, action: string, value?: unknown];

type ListedOperation = readonly [
  id: string,
  site: number,
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

/** Writes a `ListedOperation` part by part: a list of the parts, made for the writer, costs as much as the writing. */
function writeOperation({ id, site, sequence, vector, shadow, effects, reply, hop }: BlueOperation): void {
  writer.writeArrayHead(reply.meta === undefined ? 8 : 9);
  write(id);
  write(site);
  write(sequence);
  write(vector);
  write(shadow ?? null);
  writer.writeArrayHead(effects.length);
  for (const effect of effects) writeEffect(effect);
  write(reply.value);
  write(hop ?? null);
  if (reply.meta !== undefined) write(reply.meta);
}

/** Writes a `ListedEffect`. */
function writeEffect(effect: Effect): void {
  const hasValue = 'value' in effect;
  writer.writeArrayHead(hasValue ? 5 : 4);
  write(effect.table);
  write(effect.key);
  write(effect.field);
  write(effect.action);
  if (hasValue) write(effect.value);
}

/** Writes a part, which may be as deep as values on the wire. */
function write(part: unknown): void {
  writer.writeValue(part, OUTERMOST);
}

function operationFrom([
  id,
  site,
  sequence,
  vector,
  shadow,
  effects,
  value,
  hop,
  meta,
]: ListedOperation): BlueOperation {
  return {
    id,
    site,
    ...(shadow === null ? {} : { shadow }),
    effects: effects.map(effectFrom),
    reply: meta === undefined ? { value } : { value, meta: meta as Readonly<Record<string, unknown>> },
    sequence,
    vector,
    ...(hop === null ? {} : { hop }),
  };
}

function effectFrom(listed: ListedEffect): Effect {
  const [table, key, field, action, value] = listed;
  return listed.length < 5 ? { table, key, field, action } : { table, key, field, action, value };
}
