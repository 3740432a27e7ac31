/** The sentences of the page. */
import { formatMs } from '../../shared/page/format.ts';
import { formatSite } from '../../shared/page/site-names.ts';
import type { LogCounts } from '../log-counts.ts';
import { findLogs, type Action, type Outcome } from '../network.ts';
import { getRoundTripMs, PARTITIONS, REGION_NAMES, type Region, type Site } from '../regions.ts';
import type { ShownReceipt } from './desk.ts';
import type { Audits, Phase } from './page-state.ts';
import { formatUser } from './people.ts';

const PHASES: Readonly<Record<Phase, string>> = {
  connecting: 'Connecting to the sites…',
  ready: 'Ready',
  'in flight': 'Operations in flight…',
  failed: 'No connection: trying again…',
};

export function formatPhase(phase: Phase): string {
  return PHASES[phase];
}

/** Describes the round trip between a user and the leader of its region. */
export function formatDistance(region: Region, site: Site): string {
  const { leader } = PARTITIONS[region];
  const ms = getRoundTripMs(site, leader);
  return `Beside ${formatSite(site)}. ${formatSite(leader)} orders ${REGION_NAMES[region]}, ${ms} ms there and back.`;
}

export function formatAction(action: Action): string {
  if (action.kind === 'post') return `${formatUser(action.author)} posts`;
  return `${formatUser(action.follower)} ${action.kind}s ${formatUser(action.followed)}`;
}

/** Describes the red logs that an action waits for. */
export function formatWaits({ action, heldMs }: Pick<ShownReceipt, 'action' | 'heldMs'>): string {
  const { home, held } = findLogs(action);
  const log = `log of ${REGION_NAMES[home]}`;
  if (held === undefined) return log;
  const time = typeof heldMs === 'number' ? ` of ${formatMs(heldMs)}` : '';
  return `${log}, with a hold in ${REGION_NAMES[held]}${time}`;
}

/** Describes two actions that need the same row, as the label of a button. */
export function formatMeeting([far, near]: readonly Action[]): string {
  if (far === undefined || near === undefined) return '';
  return `${formatAction(far)}, and ${formatAction(near)} while the row is held`;
}

export const OUTCOMES: Readonly<Record<Outcome, string>> = {
  done: 'confirmed',
  unchanged: 'unchanged',
  conflict: 'given up',
  unknown: 'unknown',
};

/** Describes the latest action of a user. The text stays the same until its outcome is known. */
export function formatMessage(receipt: ShownReceipt | undefined): string {
  if (receipt === undefined) return 'Post something, or follow another user.';
  const { action, outcome, ms = 0 } = receipt;
  const what = formatAction(action);
  if (outcome === undefined) return `${what}: waits for the ${formatWaits(receipt)}…`;
  switch (outcome) {
    case 'done':
      return `${what}: confirmed after ${formatMs(ms)}. It waited for the ${formatWaits(receipt)}.`;
    case 'unchanged':
      return `${what}: nothing had to change.`;
    case 'conflict':
      return `${what}: given up after ${formatMs(ms)}, since others kept changing these rows.`;
    case 'unknown':
      return `${what}: no answer after ${formatMs(ms)}. It may have been done.`;
  }
}

export function formatVerdict({ reads, halves }: Audits): string {
  if (reads === 0) return 'Not read yet';
  if (halves > 0) return `Half a follow in ${halves} of ${reads} strong reads`;
  return reads === 1 ? 'Whole in 1 strong read' : `Whole in ${reads} strong reads`;
}

/** How long rows were held on average. */
export function formatHeld({ holds, heldMs }: Pick<LogCounts, 'holds' | 'heldMs'>): string {
  return holds === 0 ? '–' : formatMs(heldMs / holds);
}
