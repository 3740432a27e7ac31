/** The texts about a site, and the actions that the page offers. */
import { formatSite } from '../../shared/page/site-names.ts';
import type { Row } from '../../tickets/page/sale-record.ts';
import type { Action, SiteStatus } from '../status.ts';

export interface StatusText {
  /** One word for the state, which determines its color. */
  readonly kind:
    | 'running'
    | 'starting'
    | 'catching-up'
    | 'cut'
    | 'frozen'
    | 'killed'
    | 'ended'
    | 'unknown';
  readonly text: string;
}

export function describeStatus(status: SiteStatus | undefined): StatusText {
  if (status === undefined) return { kind: 'unknown', text: '…' };
  const { state, isCut, isCatchingUp } = status;
  if (state !== 'running') return { kind: state, text: isCut ? `${state}, cut off` : state };
  if (isCut) return { kind: 'cut', text: 'cut off' };
  return isCatchingUp
    ? { kind: 'catching-up', text: 'catching up' }
    : { kind: 'running', text: 'running' };
}

export interface OfferedAction {
  readonly action: Action;
  readonly label: string;
  readonly title: string;
  readonly isPossible: boolean;
}

/** Returns the possible actions on a site now: one of each pair. */
export function offeredActions(status: SiteStatus | undefined): readonly OfferedAction[] {
  const state = status?.state;
  const isGone = state === 'killed' || state === 'ended';
  const isKnown = status !== undefined;
  return [
    isGone
      ? {
          action: 'start',
          label: 'Start again',
          title: 'Starts the process on its directory',
          isPossible: true,
        }
      : {
          action: 'kill',
          label: 'Kill',
          title: 'kill -9: it can write nothing down',
          isPossible: isKnown,
        },
    state === 'frozen'
      ? { action: 'continue', label: 'Continue', title: 'SIGCONT', isPossible: true }
      : {
          action: 'freeze',
          label: 'Freeze',
          title: 'SIGSTOP: it stands still',
          isPossible: state === 'running',
        },
    status?.isCut === true
      ? { action: 'reconnect', label: 'Reconnect', title: 'Messages pass again', isPossible: true }
      : {
          action: 'cut',
          label: 'Cut off',
          title: 'No messages to or from the other sites',
          isPossible: isKnown,
        },
  ];
}

/** Explains why no sale is confirmed, and what to do; `undefined` if the leader can be reached. */
export function describeStall(
  sites: readonly SiteStatus[],
  rows: readonly Row[],
): string | undefined {
  const leader = sites.find(({ isLeader }) => isLeader);
  if (leader === undefined) return undefined;
  const { kind, text } = describeStatus(leader);
  if (kind === 'running') return undefined;
  const name = formatSite(leader.name);
  const waiting = rows.filter(
    ({ finalItem, failure }) => finalItem === undefined && failure === undefined,
  ).length;
  const who = waiting === 1 ? '1 customer waits' : `${waiting} customers wait`;
  const cure = offeredActions(leader).find(({ action }) =>
    ['start', 'continue', 'reconnect'].includes(action),
  );
  const advice =
    cure === undefined ? 'It goes on in a moment.' : `Press “${cure.label}” at ${name}.`;
  return `${name} orders the sales of all sites, and is ${text}: no purchase is confirmed, and no sale can begin. ${who} for the confirmed answer. ${advice}`;
}

export interface SiteCounts {
  readonly sold: number;
  /** Customers who got a yes. */
  readonly promised: number;
  readonly takenBack: number;
}

/** Counts the outcomes of the customers who were served last at a site. */
export function countsAt(site: string, rows: readonly Row[]): SiteCounts {
  let [sold, promised, takenBack] = [0, 0, 0];
  for (const { path, answer, finalItem } of rows) {
    if (path.at(-1) !== site) continue;
    if (typeof finalItem === 'string') sold += 1;
    if (answer === 'yes') promised += 1;
    if (answer === 'yes' && finalItem === null) takenBack += 1;
  }
  return { sold, promised, takenBack };
}
