/** The state behind a generator's scratchpad: a snapshot with the shadow operations that were tried laid over it. */
import type { Effect } from '../records/effect.ts';
import { handedOut, kept } from '../../values/frozen.ts';
import type { Entry, ReadRange } from '../records/key-range.ts';
import { Overlay } from '../state/overlay.ts';
import { replyOf, type Chosen } from '../records/reply.ts';
import type { Scratchpad } from '../service/readers.ts';
import type { Service } from '../service/service.ts';
import type { StateReader } from '../state/store.ts';
import { noteField, type ReadNotes } from './table-readers.ts';
import { isRedOnly } from '../service/tables.ts';

/** The state that a generator sees: the snapshot, with what it has applied to its scratchpad. */
export class ScratchState implements StateReader, Scratchpad {
  readonly #service: Service;
  readonly #notes: ReadNotes;
  #snapshot: StateReader;
  #overlay: Overlay | undefined;
  #applied = 0;

  /** Of `snapshot` until another one is shown; `notes` hears of what effects read when they are tried. */
  constructor(service: Service, snapshot: StateReader, notes: ReadNotes) {
    this.#service = service;
    this.#snapshot = snapshot;
    this.#notes = notes;
    Object.freeze(this);
  }

  // All runs of all services have it as their scratchpad: none can put something else in the place of what it does.
  static {
    for (const method of [this.prototype.apply, this.prototype.discard]) Object.freeze(method);
    Object.freeze(this.prototype);
  }

  /** Shows this snapshot from now on. */
  show(snapshot: StateReader): void {
    this.#snapshot = snapshot;
  }

  apply<R>({ choice }: Chosen<R>): R {
    const { shadow, args, effects, reply } = choice;
    this.#overlay ??= new Overlay(this.#service.tables, this.#snapshot);
    this.#applied += 1;
    const results = this.#overlay.add(this.#applied, effects);
    const makeReply = this.#service.shadowOperations[shadow]?.reply;
    if (makeReply === undefined) return replyOf(reply).value as R;
    for (const effect of effects) this.#noteRead(effect);
    return replyOf(makeReply(results.map(handedOut), kept(args))).value as R;
  }

  /** What an effect that reads its field yields, the generator knows from its reply. */
  #noteRead(effect: Effect): void {
    const { tables } = this.#service;
    if (isRedOnly(tables, effect)) noteField(effect, tables[effect.table]?.removable === true, this.#notes);
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
