/**
 * Replies of blue operations that were received from other sites. Such an operation is the record of its slot in the
 * log of its site. So any site that has it can answer without that site, which may be down.
 *
 * How far a client has acknowledged its replies is known where it submits. So elsewhere the oldest replies are dropped
 * beyond the limits. A dropped reply is requested from its site, as if it had not been received.
 */
import { measurePlainData } from '../../../values/estimate-bytes.ts';
import { OWN_SECTION, type Section } from '../../records/checkpoint.ts';
import type { Origin } from '../../records/origin.ts';
import type { BlueOperation, OperationId, ReplyRecord } from '../../records/records.ts';
import { EXPIRED, ID_TABLE_LIMITS, IdTable } from './id-table.ts';

/** A slot: of which log, and at which hop. */
interface SlotPlace {
  readonly site: Origin;
  readonly hop: number;
}

type ReceivedReply = SlotPlace & Pick<BlueOperation, 'reply' | 'vector'>;

const MAX_BYTES = 64 << 20;
const LIMITS = { ...ID_TABLE_LIMITS, maxBytes: MAX_BYTES, maxBytesPerPrincipal: MAX_BYTES / 2 };

export class ReceivedReplies {
  readonly #table = new IdTable<ReceivedReply>(LIMITS, {
    measure: measurePlainData,
    save: (value) => value,
    load: (saved) => saved as ReceivedReply,
  });

  get sections(): Readonly<Record<string, Section>> {
    return this.#table.sections(`${OWN_SECTION}received`);
  }

  add({ id, site, hop, reply, vector }: BlueOperation): void {
    if (hop !== undefined) this.#table.set(id, { site, hop, reply, vector });
  }

  /** The record of the slot, if it was received and is kept. */
  find(id: OperationId, { site, hop }: SlotPlace): ReplyRecord | undefined {
    const found = this.#table.get(id);
    if (found === undefined || found === EXPIRED || found.site !== site || found.hop !== hop) return undefined;
    return { kind: 'record', reply: found.reply, vector: found.vector };
  }

  /** The record of the operation, in whichever slot, if it was received and is kept. */
  findAny(id: OperationId): ReplyRecord | undefined {
    const found = this.#table.get(id);
    return found === undefined || found === EXPIRED ? undefined : this.find(id, found);
  }

  expire(client: string, upTo: number): void {
    this.#table.expire(client, upTo);
  }
}
