/** What the submissions of one client share: its name, its codec, and what may be kept of it. */
import type { Codec } from '../../../protocol/codec/codec.ts';
import type { ClientRecord } from '../clients/client-record.ts';
import type { GatewayHost } from '../host/host.ts';
import type { Ended, RepeatableUpdate, SubmissionOwner } from '../submission/submission-parts.ts';

/** A class, since a literal with a getter would be of another shape for each connection. */
export class ClientOwner implements SubmissionOwner {
  readonly key: string;
  readonly codec: Codec;
  readonly levels: readonly string[];
  readonly resultBytesMax: number;
  readonly #record: ClientRecord;
  readonly #host: GatewayHost;

  constructor(record: ClientRecord, codec: Codec, host: GatewayHost) {
    this.key = record.key;
    this.codec = codec;
    this.levels = host.levels;
    this.resultBytesMax = host.limits.resultBytesMax;
    this.#record = record;
    this.#host = host;
  }

  get acknowledged(): number {
    return this.#record.acked;
  }

  take(bytes: number): boolean {
    return this.#record.take(bytes);
  }

  charge(bytes: number): void {
    this.#record.charge(bytes);
  }

  give(bytes: number): void {
    this.#record.give(bytes);
  }

  ended(update: RepeatableUpdate & { readonly id: number }, as: Ended): void {
    this.#record.ended(update, as);
  }

  onAnomaly(operation: string, what: string, error?: unknown): void {
    this.#host.report(operation, what, error);
  }
}
