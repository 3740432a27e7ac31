/**
 * The slots of one site's log. A slot is (log, identifier, hop), and its first entry in that log decides it: the final
 * answer, or that the operation has gone on to another site or to the red log. Since only the site itself appends to its
 * log, the order is known when an entry is appended; but nothing is told before the entry is synced.
 */
import { OWN_SECTION } from '../../records/checkpoint.ts';
import type { Section } from '../../records/checkpoint.ts';
import { EXPIRED, ID_TABLE_LIMITS, IdTable, type ValueCodec } from './id-table.ts';
import type { IdTableLimits } from '../../records/bounds.ts';
import { plainBytes } from '../../../values/size.ts';
import { isKeyed } from '../../records/operation-id.ts';
import type { OperationId, SlotDecision } from '../../records/records.ts';
import type { RememberedInLog } from './remembered.ts';

/** One decided slot. */
export interface Slot {
  readonly hop: number;
  readonly decision: SlotDecision;
  /** Whether the decision is synced and, of a blue operation, visible here. */
  isSettled: boolean;
  /** Who waits for that; none, mostly. */
  waiting: (() => void)[] | undefined;
  /** Of the operation, in the table. */
  place: number;
  /** The slot of the same operation at another hop. */
  readonly other: Slot | undefined;
}

type SavedSlot = readonly [hop: number, decision: SlotDecision];

/** What an answer takes beside its reply and the entries of its vector. */
const ANSWER_BYTES = plainBytes({ kind: 'record', reply: null, vector: [] }) - plainBytes(null);
const ENTRY_BYTES = plainBytes(0);

/** As `plainBytes`, which would go by the names of the parts of each answer. */
function bytesOf(decision: SlotDecision): number {
  if (decision.kind !== 'record' || decision.reply === undefined) return plainBytes(decision);
  return ANSWER_BYTES + plainBytes(decision.reply) + ENTRY_BYTES * decision.vector.length;
}

/** An operation's slots as they are saved: those whose entry is synced, since the log may lose the others. */
const CODEC: ValueCodec<Slot> = {
  bytesOf: (slot) => {
    let bytes = 0;
    for (let each: Slot | undefined = slot; each !== undefined; each = each.other) bytes += bytesOf(each.decision);
    return bytes;
  },
  save: (slot) => {
    const saved: SavedSlot[] = [];
    for (let each: Slot | undefined = slot; each !== undefined; each = each.other) {
      if (each.isSettled) saved.unshift([each.hop, each.decision]);
    }
    return saved.length === 0 ? undefined : saved;
  },
  load: (saved) => {
    let slot: Slot | undefined;
    for (const [hop, decision] of saved as readonly SavedSlot[])
      slot = { hop, decision, isSettled: true, waiting: undefined, place: 0, other: slot };
    return slot as Slot;
  },
};

/** The decided slots of one log. */
export class Slots {
  readonly limits: IdTableLimits;
  readonly #table: IdTable<Slot>;

  constructor(limits: IdTableLimits = ID_TABLE_LIMITS) {
    this.limits = limits;
    this.#table = new IdTable(limits, CODEC);
  }

  /** The slot, if it is decided. */
  find(id: OperationId, hop: number): Slot | typeof EXPIRED | undefined {
    const found = this.#table.get(id);
    if (found === EXPIRED) return EXPIRED;
    let slot = found;
    while (slot !== undefined && slot.hop !== hop) slot = slot.other;
    return slot;
  }

  /** The slot of another operation with the same idempotency key in this log. */
  rivalOf(id: OperationId): Slot | typeof EXPIRED | undefined {
    return isKeyed(id) ? this.#table.otherOf(id) : undefined;
  }

  /** Decides an open slot by an entry that is being appended; `settle` once that counts. */
  decide(id: OperationId, hop: number, decision: SlotDecision): Slot {
    return this.#add(id, hop, decision, false);
  }

  /** An entry of the log at a start: later ones of a decided slot are void. */
  restore(id: OperationId, hop: number, decision: SlotDecision): void {
    if (this.find(id, hop) === undefined) this.#add(id, hop, decision, true);
  }

  /** The client's operations up to `upTo` are over. Says whether this log had heard of the client, and not of this. */
  expire(client: string, upTo: number): boolean {
    return this.#table.expire(client, upTo);
  }

  /** Whether the client has as many operations here, that it has not acknowledged, as it may; those are known still. */
  isFullFor(client: string): boolean {
    return this.#table.isFullFor(client);
  }

  get remembered(): RememberedInLog {
    return this.#table.remembered;
  }

  /** The parts of the state that are saved row by row. */
  get sections(): Readonly<Record<string, Section>> {
    return this.#table.sections(`${OWN_SECTION}slots`);
  }

  /** The decision counts: those who wait are told. */
  settle(id: OperationId, slot: Slot): void {
    const { waiting } = slot;
    slot.isSettled = true;
    slot.waiting = undefined;
    this.#table.touch(id, slot.place);
    if (waiting !== undefined) for (const tell of waiting) tell();
  }

  /** Tells once the decision counts. */
  whenSettled(slot: Slot, tell: () => void): void {
    if (slot.isSettled) tell();
    else (slot.waiting ??= []).push(tell);
  }

  #add(id: OperationId, hop: number, decision: SlotDecision, isSettled: boolean): Slot {
    const other = this.#table.get(id);
    const slot: Slot = {
      hop,
      decision,
      isSettled,
      waiting: undefined,
      place: 0,
      other: other === EXPIRED ? undefined : other,
    };
    slot.place = this.#table.set(id, slot);
    return slot;
  }
}
