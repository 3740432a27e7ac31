/** Where the parts of a site put what has to be done after an input. */
import type { Answer } from '../answer.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { LocalEntry, RedRecord } from '../../service/records/records.ts';
import type { LostRight, MemberEvent } from '../site-event.ts';
import type { PartMessage } from './site-part.ts';

/** What parts report to their site, which acts on it before the turn ends. */
export type InnerEvent =
  | MemberEvent
  /**
   * Another node of this site has gone on from an earlier point of its stream. This one must not go
   * on.
   */
  | { readonly kind: 'forked'; readonly message: string }
  /**
   * The stream of another origin differs between two sites. This site takes no more of that start
   * of the origin.
   */
  | { readonly kind: 'fork'; readonly origin: Origin; readonly message: string }
  /** A site was closed, and its rights to bounded fields are lost. */
  | {
      readonly kind: 'rights-lost';
      readonly origin: Origin;
      readonly lost: readonly LostRight[];
    };

export interface SiteOutputs {
  /** Appends an entry to the site's own log. */
  append(entry: LocalEntry): void;
  /** Sends a message to another site, if that is still a member. */
  send(to: Origin, message: PartMessage): void;
  answer(answer: Answer): void;
  /** Proposes a record to its red log, once the present input is handled. */
  propose(record: RedRecord): void;
  /**
   * No caller waits for the record any more. It is not proposed, if that is still possible. The red
   * path gets to know which of both it is once the present input is handled.
   */
  withdraw(record: RedRecord): void;
  report(event: InnerEvent): void;
}
