/** The parts in which a table saves fields that may become large. */
import { RowChanges, type SavedRow, type SavedRows } from '../records/checkpoint.ts';
import type { Effect } from '../records/effect.ts';
import type { StateParts } from '../fields/field.ts';
import { formatPart, parsePart } from './saved-names.ts';

interface PartsHost {
  /** The fields that are saved in parts. */
  readonly fields: readonly string[];
  /** Returns the parts of a field, or none if the field was never written. */
  getParts(key: string, field: string): StateParts | undefined;
  /** A part was restored, and takes this many bytes. */
  onRestored(bytes: number): void;
}

export class SavedParts {
  readonly changes: RowChanges<string> = new RowChanges<string>({
    listKeys: () => this.#listNames(),
    save: (name) => this.#save(name),
  });
  readonly #host: PartsHost;
  /** The rows that have parts. A walk over all rows to find them would take one long turn. */
  readonly #keys = new Set<string>();

  constructor(host: PartsHost) {
    this.#host = host;
  }

  /** The row has a field with parts. */
  add(key: string): void {
    this.#keys.add(key);
  }

  /** The row was removed, or has left memory. */
  forget(key: string): void {
    this.#keys.delete(key);
  }

  /** To be called before the effect changes a field. */
  note({ key, field, action }: Effect, parts: StateParts): void {
    this.#keys.add(key);
    const number = parts.findChanging(action, this.changes);
    if (number !== undefined) this.changes.note(formatPart(field, number, key));
  }

  /** To be called before all of a field may change. */
  noteAll(key: string, field: string, parts: StateParts): void {
    for (const number of parts.getNumbers()) this.changes.note(formatPart(field, number, key));
  }

  #save(name: string): unknown {
    const { field, number, key } = parsePart(name);
    return this.#host.getParts(key, field)?.save(number);
  }

  /** Restores the parts. The rows of the table must be restored already. */
  restore(rows: readonly SavedRow[]): void {
    if (this.#host.fields.length === 0) return;
    const parts = rows.map(([name, saved]) => ({ ...parsePart(name), saved }));
    for (const { key, field, number, saved } of parts.toSorted((a, b) => a.number - b.number)) {
      const state = this.#host.getParts(key, field);
      if (state === undefined) continue;
      const before = state.bytes;
      state.restore(number, saved);
      this.#host.onRestored(state.bytes - before);
    }
    for (const key of this.#keys) {
      for (const field of this.#host.fields) this.#host.getParts(key, field)?.checkRestored();
    }
  }

  *#listNames(): Iterable<string> {
    for (const key of this.#keys) {
      for (const field of this.#host.fields) {
        for (const number of this.#host.getParts(key, field)?.getNumbers() ?? [])
          yield formatPart(field, number, key);
      }
    }
  }
}

/** Restores the parts of one field from a store. Throws if one is missing. */
export function loadParts(
  parts: StateParts,
  first: number | undefined,
  {
    key,
    field,
    saved,
  }: { readonly key: string; readonly field: string; readonly saved: SavedRows },
): void {
  let number = first;
  while (number !== undefined) {
    const part = saved.get(formatPart(field, number, key));
    if (part === undefined)
      saved.reportDamage(
        `part ${number} of '${field}' is missing, which the row ${JSON.stringify(key)} names`,
      );
    number = parts.restore(number, part);
  }
  parts.checkRestored();
}
