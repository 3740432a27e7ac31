/**
 * Parts of large fields of one table, as rows of a checkpoint beside those of the table: a row of it says what there is of
 * the field, and its parts have the rest.
 */
import { Changes, type SavedRow } from '../records/checkpoint.ts';
import type { StateParts } from '../service/fields/field.ts';

/** The table that they belong to. */
interface PartsHost {
  /** The fields that are saved in parts. */
  readonly fields: readonly string[];
  keys(): Iterable<string>;
  /** None of a field that was never written. */
  partsOf(key: string, field: string): StateParts | undefined;
}

const SEPARATOR = '\u0000';

/** Names of fields have no separator in them; keys may. */
function nameOf(field: string, number: number, key: string): string {
  return `${field}${SEPARATOR}${number}${SEPARATOR}${key}`;
}

function splitName(name: string): { field: string; number: number; key: string } {
  const [field = '', number = ''] = name.split(SEPARATOR, 2);
  return { field, number: Number(number), key: name.slice(field.length + number.length + 2) };
}

/** The parts of one table. */
export class TableParts {
  /** Names of the parts that have changed since they were last saved. */
  readonly changes: Changes<string> = new Changes<string>();
  readonly #host: PartsHost;

  constructor(host: PartsHost) {
    this.#host = host;
  }

  /** A field has changed. */
  note(key: string, field: string, parts: StateParts): void {
    for (const number of parts.takeChanged()) this.changes.add(nameOf(field, number, key));
  }

  changeAll(): void {
    this.changes.addAll(this.#names());
  }

  takeChanges(max: number): SavedRow[] {
    return this.changes.take(max).map((name) => {
      const { field, number, key } = splitName(name);
      return [name, this.#host.partsOf(key, field)?.save(number)];
    });
  }

  /** The rows of the table are restored already. */
  restore(rows: readonly SavedRow[]): void {
    if (this.#host.fields.length === 0) return;
    const parts = rows.map(([name, saved]) => ({ ...splitName(name), saved }));
    for (const { key, field, number, saved } of parts.toSorted((a, b) => a.number - b.number)) {
      this.#host.partsOf(key, field)?.restore(number, saved);
    }
    for (const key of this.#host.keys()) {
      for (const field of this.#host.fields) this.#host.partsOf(key, field)?.checkRestored();
    }
  }

  *#names(): Iterable<string> {
    const { fields } = this.#host;
    if (fields.length === 0) return;
    for (const key of this.#host.keys()) {
      for (const field of fields) {
        for (const number of this.#host.partsOf(key, field)?.numbers() ?? []) yield nameOf(field, number, key);
      }
    }
  }
}
