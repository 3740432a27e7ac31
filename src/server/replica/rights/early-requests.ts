/** Requests that came before the rights that they want. The newest of each site and field is kept until it is resent. */
import type { RightsRequest } from '../../records/records.ts';
import type { Origin } from '../../records/origin.ts';
import { formatFieldKey } from './field-name.ts';

/** The number of fields with an early request at a time. Requests for others are sent again. */
const MAX_FIELDS = 1024;

export interface EarlyRequest {
  readonly from: Origin;
  readonly request: RightsRequest;
  /** Up to where its sender showed the stream of this site. */
  readonly seenStamp: number;
  /** It is retried by then. */
  readonly untilMs: number;
}

/** What one site has not answered, since it had nothing. */
export class EarlyRequests {
  /** By field, and by who asked; the field that was first asked for longest ago stands first. */
  readonly #requests = new Map<string, Map<Origin, EarlyRequest>>();

  /** Adds a request in place of the last one of its site, unless only that one is for an operation that waits. */
  add(question: EarlyRequest): void {
    const { from, request } = question;
    const field = formatFieldKey(request);
    const ofField = this.#requests.get(field) ?? new Map<Origin, EarlyRequest>();
    if (request.target === undefined && ofField.get(from)?.request.target !== undefined) return;
    ofField.set(from, question);
    this.#requests.set(field, ofField);
    const [oldest] = this.#requests.keys();
    if (this.#requests.size > MAX_FIELDS && oldest !== undefined) this.#requests.delete(oldest);
  }

  /** Takes out those about these fields that are not overdue. */
  takeForFields(fields: Iterable<string>, nowMs: number): readonly EarlyRequest[] {
    if (this.#requests.size === 0) return [];
    const taken: EarlyRequest[] = [];
    for (const field of fields) {
      for (const item of this.#requests.get(field)?.values() ?? []) if (nowMs < item.untilMs) taken.push(item);
      this.#requests.delete(field);
    }
    return taken;
  }

  evict(nowMs: number): void {
    for (const [field, ofField] of this.#requests) {
      for (const [from, { untilMs }] of ofField) if (untilMs <= nowMs) ofField.delete(from);
      if (ofField.size === 0) this.#requests.delete(field);
    }
  }
}
