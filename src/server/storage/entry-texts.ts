/**
 * Entries as text. Sites of one process hand each other the same objects, so that an operation need be written out only
 * once for all of their logs.
 */
import type { SiteLogName } from '../redblue/site-machine.ts';
import { LOG_NUMBERS } from './names.ts';
import { toText } from './plain-text.ts';

interface LocalLike {
  readonly kind?: unknown;
  readonly operation?: object;
  readonly redDelivered?: number;
}

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
    const shared = this.#shared;
    if (shared === undefined || typeof entry !== 'object' || entry === null) return toText(entry);
    const { kind, operation, redDelivered } = entry as LocalLike;
    if (kind !== 'blue' || operation === undefined) return this.#once(entry, shared);
    // The entries differ from site to site; the operation in them does not.
    const rest = redDelivered === undefined ? '' : `,"redDelivered":${redDelivered}`;
    return `{"kind":"blue","operation":${this.#once(operation, shared)}${rest}}`;
  }

  #once(value: object, shared: WeakMap<object, string>): string {
    let text = shared.get(value);
    if (text === undefined) {
      text = toText(value);
      shared.set(value, text);
    }
    return text;
  }
}
