/**
 * The slots of one site's log. A slot is (log, identifier, hop), and its first entry in that log
 * decides it. The entry is the final answer, or states that the operation has moved to another site
 * or to the red log. Only the site itself appends to its log, so the order is known when an entry
 * is appended. Nothing is reported before the entry is synced.
 */
import type { Vector } from '../../../service/records/vector.ts';
import type { Reply } from '../../../service/records/reply.ts';
import { OWN_SECTION, type Section } from '../../../service/records/checkpoint.ts';
import {
  EXPIRED,
  ID_TABLE_LIMITS,
  IdTable,
  type RetainedReplyStats,
  type ValueCodec,
} from './id-table.ts';
import type { IdTableLimits } from '../../../service/records/retention-limits.ts';
import { measurePlainData } from '../../../../values/estimate-bytes.ts';
import { isKeyed } from '../../core/operation-id.ts';
import type {
  OperationId,
  SlotDecision,
  BlueOperation,
  ReplyRecord,
} from '../../../service/records/records.ts';
import type { Origin } from '../../../service/records/origin.ts';
import { DEFAULT_MACHINE_SIZES, type MachineSizes } from '../../../log/machine-sizes.ts';

export interface DedupSlot {
  readonly hop: number;
  readonly decision: SlotDecision;
  /** Whether the decision is synced and, of a blue operation, visible here. */
  isFinal: boolean;
  /** Callbacks that wait for the decision. Mostly there are none. */
  waiters: (() => void)[] | undefined;
  place: number;
  /** The slot of the same operation at another hop. */
  readonly previous: DedupSlot | undefined;
}

type SavedDedupSlot = readonly [hop: number, decision: SlotDecision];

/** The bytes of an answer beside its reply and the entries of its vector. */
const REPLY_RECORD_BYTES =
  measurePlainData({ kind: 'record', reply: null, vector: [] }) - measurePlainData(null);
const ENTRY_BYTES = measurePlainData(0);

/** Measures like `measurePlainData`, but without the names of the fields of each answer. */
function measureDecision(decision: SlotDecision): number {
  if (decision.kind !== 'record' || decision.reply === undefined) return measurePlainData(decision);
  return (
    REPLY_RECORD_BYTES + measurePlainData(decision.reply) + ENTRY_BYTES * decision.vector.length
  );
}

/**
 * The slots of an operation as they are saved. Those whose entry is not synced are left out, since
 * the log may lose them.
 */
const SLOT_CODEC: ValueCodec<DedupSlot> = {
  measure: (slot) => {
    let bytes = 0;
    for (let item: DedupSlot | undefined = slot; item !== undefined; item = item.previous)
      bytes += measureDecision(item.decision);
    return bytes;
  },
  save: (slot) => {
    const saved: SavedDedupSlot[] = [];
    for (let item: DedupSlot | undefined = slot; item !== undefined; item = item.previous) {
      if (item.isFinal) saved.unshift([item.hop, item.decision]);
    }
    return saved.length === 0 ? undefined : saved;
  },
  load: (saved) => {
    let slot: DedupSlot | undefined;
    for (const [hop, decision] of saved as readonly SavedDedupSlot[])
      slot = {
        hop,
        decision,
        isFinal: true,
        waiters: undefined,
        place: 0,
        previous: slot,
      };
    return slot as DedupSlot;
  },
};

export class DedupSlots {
  readonly limits: IdTableLimits;
  readonly #table: IdTable<DedupSlot>;

  constructor(limits: IdTableLimits = ID_TABLE_LIMITS) {
    this.limits = limits;
    this.#table = new IdTable(limits, SLOT_CODEC);
  }

  /** About how many bytes the slots take in memory. */
  get memoryBytes(): number {
    return this.#table.memoryBytes;
  }

  find(id: OperationId, hop: number): DedupSlot | typeof EXPIRED | undefined {
    const found = this.#table.get(id);
    if (found === EXPIRED) return EXPIRED;
    let slot = found;
    while (slot !== undefined && slot.hop !== hop) slot = slot.previous;
    return slot;
  }

  /** Returns the slot of the operation that was decided last, at any hop. */
  findLatest(id: OperationId): DedupSlot | typeof EXPIRED | undefined {
    return this.#table.get(id);
  }

  /** Returns the slot of another operation with the same idempotency key in this log. */
  rivalOf(id: OperationId): DedupSlot | typeof EXPIRED | undefined {
    return isKeyed(id) ? this.#table.otherOf(id) : undefined;
  }

  /**
   * Decides an open slot by an entry that is being appended. `finalize` has to be called once that
   * counts.
   */
  decide(id: OperationId, hop: number, decision: SlotDecision): DedupSlot {
    return this.#add(id, hop, decision, false);
  }

  /** Restores an entry of the log at a start. Later entries of a decided slot are void. */
  restore(id: OperationId, hop: number, decision: SlotDecision): void {
    if (this.find(id, hop) === undefined) this.#add(id, hop, decision, true);
  }

  /**
   * The client's operations up to `upTo` have ended. Returns whether this log knew the client, and
   * did not know this.
   */
  expire(client: string, upTo: number): boolean {
    return this.#table.expire(client, upTo);
  }

  isFullFor(client: string): boolean {
    return this.#table.isFullFor(client);
  }

  get retainedReplies(): RetainedReplyStats {
    return this.#table.retainedReplies;
  }

  get sections(): Readonly<Record<string, Section>> {
    return this.#table.sections(`${OWN_SECTION}slots`);
  }

  /** The decision counts: waiting callers get it. */
  finalize(id: OperationId, slot: DedupSlot): void {
    const { waiters } = slot;
    this.#table.touch(id, slot.place);
    slot.isFinal = true;
    slot.waiters = undefined;
    if (waiters !== undefined) for (const tell of waiters) tell();
  }

  /** Calls back once the decision counts. */
  runWhenFinal(slot: DedupSlot, tell: () => void): void {
    if (slot.isFinal) tell();
    else (slot.waiters ??= []).push(tell);
  }

  #add(id: OperationId, hop: number, decision: SlotDecision, isFinal: boolean): DedupSlot {
    const other = this.#table.get(id);
    const slot: DedupSlot = {
      hop,
      decision,
      isFinal,
      waiters: undefined,
      place: 0,
      previous: other === EXPIRED ? undefined : other,
    };
    slot.place = this.#table.set(id, slot);
    return slot;
  }
}

/** Names a slot by the site of its log and the hop. */
interface SlotPlace {
  readonly site: Origin;
  readonly hop: number;
}

interface ReceivedReply extends SlotPlace {
  readonly reply: Reply;
  readonly vector: Vector;
}

/**
 * Replies of blue operations that were received from other sites. Such an operation is the record
 * of its slot in the log of its site. So any site that has it can answer without that site, which
 * may be down. Only the site where a client submits knows which replies the client has
 * acknowledged. So elsewhere the oldest replies are dropped beyond the limits. A dropped reply is
 * requested from its site, as if it had not been received.
 */
export class ReceivedReplies {
  readonly #table: IdTable<ReceivedReply>;

  constructor({ maxReceivedBytes }: MachineSizes = DEFAULT_MACHINE_SIZES) {
    const limits = {
      ...ID_TABLE_LIMITS,
      maxBytes: maxReceivedBytes,
      maxBytesPerPrincipal: maxReceivedBytes / 2,
    };
    this.#table = new IdTable<ReceivedReply>(limits, {
      measure: measurePlainData,
      save: (value) => value,
      load: (saved) => saved as ReceivedReply,
    });
  }

  get sections(): Readonly<Record<string, Section>> {
    return this.#table.sections(`${OWN_SECTION}received`);
  }

  /** About how many bytes the replies take in memory. */
  get memoryBytes(): number {
    return this.#table.memoryBytes;
  }

  add({ id, site, hop, reply, vector }: BlueOperation): void {
    if (hop !== undefined) this.#table.set(id, { site, hop, reply, vector });
  }

  /** Returns the record of the slot, if it was received and is kept. */
  find(id: OperationId, { site, hop }: SlotPlace): ReplyRecord | undefined {
    const found = this.#table.get(id);
    if (found === undefined || found === EXPIRED || found.site !== site || found.hop !== hop)
      return undefined;
    return { kind: 'record', reply: found.reply, vector: found.vector };
  }

  /** Returns the record of the operation in any slot, if it was received and is kept. */
  findAny(id: OperationId): ReplyRecord | undefined {
    const found = this.#table.get(id);
    return found === undefined || found === EXPIRED ? undefined : this.find(id, found);
  }

  expire(client: string, upTo: number): void {
    this.#table.expire(client, upTo);
  }
}
