/**
 * The notices for the visitor of the page: lost sites, busy sites, and customers whose tickets were
 * revoked.
 */
import { apology } from './failures.ts';
import type { Row } from './sale-record.ts';
import { formatSite } from '../../shared/page/site-names.ts';

/** One sentence, and its subject. */
export interface Notice {
  readonly about: 'offline' | 'busy' | 'revoked' | 'unanswered' | 'moved';
  readonly text: string;
  /** A link, if there is one. */
  readonly link?: { readonly text: string; readonly href: string };
}

export interface Situation {
  readonly lostSites: readonly string[];
  readonly cutSites: readonly string[];
  readonly rows: Iterable<Row>;
  /** The address of the sale that another tab of this event has opened, if one has. */
  readonly next?: string | undefined;
}

/** Returns the notices for a situation, the most urgent first. */
export function noticesFor({ lostSites, cutSites, rows, next }: Situation): Notice[] {
  let [waiting, tried, revoked, unanswered] = [0, 0, 0, 0];
  let reason: unknown;
  for (const row of rows) {
    const isOpen = row.answer === undefined && row.failure === undefined;
    if (row.retries !== undefined) tried += 1;
    if (row.retries !== undefined && isOpen) waiting += 1;
    if (row.answer === 'yes' && row.finalItem === null) revoked += 1;
    if (row.failure !== undefined) [unanswered, reason] = [unanswered + 1, row.failure];
  }
  const notices: (Notice | undefined)[] = [
    next === undefined
      ? undefined
      : {
          about: 'moved',
          text: 'Another tab has opened a new sale.',
          link: { text: 'Join it', href: next },
        },
    offline(lostSites, cutSites),
    busy(tried, waiting),
    revoked > 0
      ? {
          about: 'revoked',
          text: `${customers(revoked)} got a yes, but others had the ticket first: more were sold before the sites heard of each other than the threshold holds back.`,
        }
      : undefined,
    unanswered > 0
      ? {
          about: 'unanswered',
          text: `${people(unanswered)} left without a confirmed answer (${apology(reason)}).`,
        }
      : undefined,
  ];
  return notices.filter((notice) => notice !== undefined);
}

function offline(lost: readonly string[], cut: readonly string[]): Notice | undefined {
  if (lost.length === 0) return undefined;
  const names = lost.map(formatSite).join(', ');
  const action = lost.every((site) => cut.includes(site))
    ? 'Press “Plug in” to connect it again.'
    : 'The page goes on trying.';
  const text = `No connection to ${names}. Customers there wait, and each is served once when it is back. The other sites go on selling. ${action}`;
  return { about: 'offline', text };
}

function busy(tried: number, waiting: number): Notice | undefined {
  if (tried === 0) return undefined;
  const now = waiting > 0 ? `${waiting} wait to try again` : 'all of them have been served since';
  return {
    about: 'busy',
    text: `${people(tried)} turned away at first, because their site was too busy; ${now}.`,
  };
}

function people(count: number): string {
  return `${customers(count)} ${count === 1 ? 'was' : 'were'}`;
}

function customers(count: number): string {
  return count === 1 ? 'One customer' : `${count} customers`;
}
