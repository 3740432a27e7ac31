/**
 * Clients that have no connection, of which something is kept: who is forgotten first where there is no room. That is
 * who has a large part of all that may be kept, then who has been gone for longest.
 */
import { costOf, type ClientRecord } from './client-record.ts';

/** Which part of all is a large one. */
const LARGE_PART = 1 / 256;

export class GoneClients {
  readonly #largeBytes: number;
  /** The one that has been gone for longest first. */
  readonly #large = new Set<ClientRecord>();
  readonly #small = new Set<ClientRecord>();
  /** What is kept of them. */
  #bytes = 0;

  constructor(bytesTotalMax: number) {
    this.#largeBytes = bytesTotalMax * LARGE_PART;
  }

  add(record: ClientRecord): void {
    this.delete(record);
    (record.bytes > this.#largeBytes ? this.#large : this.#small).add(record);
    record.isGone = true;
    this.#bytes += record.bytes + costOf(record);
  }

  delete(record: ClientRecord): void {
    if (!record.isGone) return;
    record.isGone = false;
    this.#large.delete(record);
    this.#small.delete(record);
    this.#bytes -= record.bytes + costOf(record);
  }

  /** What is kept of the client has become so much more, or less: its updates end without it. */
  changed(record: ClientRecord, bytes: number): void {
    if (record.isGone) this.#bytes += bytes;
  }

  /** Those to forget so that so many bytes become free: nobody where that would not do. */
  toFree(bytes: number, except: ClientRecord): ClientRecord[] {
    const own = except.isGone ? except.bytes + costOf(except) : 0;
    return this.#bytes - own < bytes ? [] : toFree([this.#large, this.#small], bytes, except);
  }

  /** Those that have been gone since before then. */
  since(before: number): ClientRecord[] {
    const chosen: ClientRecord[] = [];
    for (const clients of [this.#large, this.#small]) {
      for (const record of clients) {
        if (record.goneAt >= before) break;
        chosen.push(record);
      }
    }
    return chosen;
  }
}

/** Of these, the first ones to forget so that so many bytes become free: nobody where that would not do. */
export function toFree(among: readonly Iterable<ClientRecord>[], bytes: number, except: ClientRecord): ClientRecord[] {
  const chosen: ClientRecord[] = [];
  let free = 0;
  for (const clients of among) {
    for (const record of clients) {
      if (free >= bytes) return chosen;
      if (record === except) continue;
      chosen.push(record);
      free += record.bytes + costOf(record);
    }
  }
  return free >= bytes ? chosen : [];
}
