/**
 * Questions of other sites that came before what they are about: a share that was given, and is on its way here. Who asks
 * would ask again only when its question is overdue, so the newest of each site and field is kept for as long.
 */
import type { AskedRights } from '../../records/records.ts';
import type { Origin } from '../../records/origin.ts';
import { nameOf } from './field-name.ts';

/** So many fields are asked for early at a time; who is not among them asks again. */
const FIELDS_MAX = 1024;

/** One of them. */
export interface EarlyQuestion {
  readonly from: Origin;
  readonly asked: AskedRights;
  /** Up to where its sender showed the stream of this site. */
  readonly seen: number;
  /** It is asked again by then. */
  readonly untilMs: number;
}

/** What one site has not answered, since it had nothing. */
export class EarlyQuestions {
  /** By field, and by who asked; the field that was first asked for longest ago stands first. */
  readonly #kept = new Map<string, Map<Origin, EarlyQuestion>>();

  /**
   * What somebody waits for is not to be forgotten for what the same site asks for to have it later. Of two that are for
   * somebody who waits the newest stands for both: it says all that the site lacks by then, here or in the pool.
   */
  keep(question: EarlyQuestion): void {
    const { from, asked } = question;
    const field = nameOf(asked);
    const ofField = this.#kept.get(field) ?? new Map<Origin, EarlyQuestion>();
    if (asked.waits === undefined && ofField.get(from)?.asked.waits !== undefined) return;
    ofField.set(from, question);
    this.#kept.set(field, ofField);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > FIELDS_MAX && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** Takes out those about these fields that are not overdue. */
  takeOf(fields: Iterable<string>, nowMs: number): readonly EarlyQuestion[] {
    if (this.#kept.size === 0) return [];
    const taken: EarlyQuestion[] = [];
    for (const field of fields) {
      for (const each of this.#kept.get(field)?.values() ?? []) if (nowMs < each.untilMs) taken.push(each);
      this.#kept.delete(field);
    }
    return taken;
  }

  /** Forgets those that are overdue. */
  forget(nowMs: number): void {
    for (const [field, ofField] of this.#kept) {
      for (const [from, { untilMs }] of ofField) if (untilMs <= nowMs) ofField.delete(from);
      if (ofField.size === 0) this.#kept.delete(field);
    }
  }
}
