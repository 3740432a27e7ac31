/** The state behind a generator's scratchpad: a snapshot with the shadow operations that were tried laid over it. */
import type { Entry, ReadRange } from './key-range.ts';
import { Overlay } from './overlay.ts';
import { replyOf } from './reply.ts';
import type { Chosen } from './reply.ts';
import type { Scratchpad } from './scratchpad.ts';
import type { Service } from './service.ts';
import type { StateReader } from './store.ts';

/** The state that a generator sees: the snapshot, with what it has applied to its scratchpad. */
export class ScratchState implements StateReader, Scratchpad {
  readonly #service: Service;
  readonly #snapshot: StateReader;
  #overlay: Overlay | undefined;
  #applied = 0;

  constructor(service: Service, snapshot: StateReader) {
    this.#service = service;
    this.#snapshot = snapshot;
  }

  apply<R>({ choice }: Chosen<R>): R {
    const { shadow, args, effects, reply } = choice;
    this.#overlay ??= new Overlay(this.#service.tables, this.#snapshot);
    this.#applied += 1;
    const results = this.#overlay.add(this.#applied, effects);
    const makeReply = this.#service.shadowOperations[shadow]?.reply;
    return replyOf(makeReply === undefined ? reply : makeReply(results, args)).value as R;
  }

  discard(): void {
    this.#overlay = undefined;
    this.#applied = 0;
  }

  read(table: string, key: string, field: string): unknown {
    return (this.#overlay ?? this.#snapshot).read(table, key, field);
  }

  has(table: string, key: string): boolean {
    return (this.#overlay ?? this.#snapshot).has(table, key);
  }

  scan(range: ReadRange, reverse: boolean): Iterable<Entry> {
    return (this.#overlay ?? this.#snapshot).scan(range, reverse);
  }
}
