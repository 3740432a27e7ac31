/**
 * Entries as text, and back. A blue operation, of which logs are full, stands as a list of its parts, without their
 * names; whatever else there is stands as it is.
 *
 * Sites of one process hand each other the same objects, so that an operation need be written out only once for all of
 * their logs.
 */
import type { Effect } from '../redblue/effect.ts';
import type { BlueOperation, LocalEntry } from '../redblue/records.ts';
import type { SiteLogName } from '../redblue/site-machine.ts';
import { LOG_NUMBERS } from './names.ts';
import { toPlain, toText } from './plain-text.ts';

/** Writes entries out. */
export class EntryTexts {
  readonly #shared: WeakMap<object, string> | undefined;

  /** `isShared` where several sites write the same objects. */
  constructor(isShared = false) {
    if (isShared) this.#shared = new WeakMap();
  }

  /** An entry as it stands in a frame. */
  of(log: SiteLogName, entry: unknown): string {
    return `[${LOG_NUMBERS[log]},${this.#textOf(entry)}]`;
  }

  #textOf(entry: unknown): string {
    if (typeof entry !== 'object' || entry === null) return toText(entry);
    if (!isBlue(entry)) return this.#once(entry, toText);
    // The entries differ from site to site; the operation in them does not.
    const { operation, redDelivered } = entry;
    const text = this.#once(operation, textOfOperation);
    return redDelivered === undefined ? `["${BLUE}",${text}]` : `["${BLUE}",${text},${redDelivered}]`;
  }

  #once<T extends object>(value: T, write: (value: T) => string): string {
    const shared = this.#shared;
    if (shared === undefined) return write(value);
    let text = shared.get(value);
    if (text === undefined) {
      text = write(value);
      shared.set(value, text);
    }
    return text;
  }
}

/** The entry that stands in a frame so. */
export function entryFrom(read: unknown): unknown {
  if (!Array.isArray(read) || read[0] !== BLUE) return read;
  const [, listed, redDelivered] = read as [string, ListedOperation, number?];
  const operation = operationFrom(listed);
  return redDelivered === undefined ? { kind: BLUE, operation } : { kind: BLUE, operation, redDelivered };
}

type BlueEntry = LocalEntry & { readonly kind: 'blue' };

const BLUE: BlueEntry['kind'] = 'blue';

function isBlue(entry: object): entry is BlueEntry {
  return (entry as Partial<LocalEntry>).kind === BLUE;
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

function textOfOperation({ id, site, sequence, vector, shadow, effects, reply, hop }: BlueOperation): string {
  const value = toPlain(reply.value);
  const parts = [id, site, sequence, vector, shadow ?? null, effects.map(listEffect), value, hop ?? null] as const;
  const listed: ListedOperation = reply.meta === undefined ? parts : [...parts, toPlain(reply.meta)];
  return JSON.stringify(listed);
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

function listEffect(effect: Effect): ListedEffect {
  const { table, key, field, action } = effect;
  return 'value' in effect ? [table, key, field, action, toPlain(effect.value)] : [table, key, field, action];
}

function effectFrom(listed: ListedEffect): Effect {
  const [table, key, field, action, value] = listed;
  return listed.length < 5 ? { table, key, field, action } : { table, key, field, action, value };
}
