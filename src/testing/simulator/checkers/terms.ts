/** A site takes nothing of an earlier start of another one, once it has taken something of a later. */
import type { Envelope } from '../../../server/messages/envelope.ts';
import type { Origin } from '../../../server/records/origin.ts';
import { require, type Checker } from './checker.ts';

export class TermChecker implements Checker {
  readonly name = 'terms';
  /** By receiver, its start, and sender: the latest term of which something was taken. */
  readonly #latest = new Map<string, number>();

  took(site: Origin, { from, term, message }: Envelope, start: number): void {
    const key = `${site}:${start}:${from.site}`;
    const latest = this.#latest.get(key) ?? 0;
    require(term >= latest, () =>
      `site ${site} took ${message.kind} of term ${term} from site ${from.site}, and had taken something of ${latest}`);
    this.#latest.set(key, term);
  }
}
