/** Describes for which user and at which site the page fetches, and the result. */
import { capitalize } from './format.ts';
import { formatSite } from './site-names.ts';
import type { Asked, Phase, Race } from './side-by-side-run.ts';

const PHASES: Readonly<Record<Phase, (users: string) => string>> = {
  connecting: () => 'Connecting…',
  ready: () => 'Ready',
  fetching: (users) => `Fetching for ${users}…`,
  delivered: (users) => `Delivered to ${users}: the early answer was right`,
  misspeculated: (users) => `Delivered to ${users} after a correction: fetched twice`,
  failed: () => 'Failed',
};

/**
 * Describes what the page is doing. The text does not change while several users are served,
 * because screen readers announce it.
 *
 * @param isShowing whether a slow clock has not shown the result of the request yet
 */
export function formatStatusText(
  { phase, online, asked: requested }: Pick<Race<unknown>, 'phase' | 'online' | 'asked'>,
  isShowing = false,
): string {
  if (!online && phase !== 'connecting' && phase !== 'failed')
    return 'No connection: trying again…';
  if (isShowing && (phase === 'delivered' || phase === 'misspeculated'))
    return 'Shown in slow motion…';
  const isSeries = requested !== undefined && requested.of > 1;
  return PHASES[phase](
    isSeries && phase === 'fetching' ? `${requested.of} users` : `user ${requested?.user}`,
  );
}

/** Describes what the lanes show, or why they are empty. */
export function formatTargetText(requested: Asked | undefined, things: string): string {
  if (requested === undefined) return 'Nothing fetched yet';
  return requested.of > 1 ? seriesText(requested, things) : requestText(requested, things);
}

function requestText({ user, site, state }: Asked, things: string): string {
  const whom = `${things} for user ${user}, beside ${formatSite(site)}`;
  switch (state) {
    case 'in flight':
      return `Fetching ${whom}…`;
    case 'delivered':
      return capitalize(whom);
    case 'failed':
      return `No ${whom}: the request has failed`;
    case 'given up':
      return `No ${whom}: given up when the site was changed`;
  }
}

function seriesText({ user, site, served, of, state }: Asked, things: string): string {
  const sofar = `${served} of ${of} users served beside ${formatSite(site)}`;
  switch (state) {
    case 'in flight':
      return `${sofar}…`;
    case 'delivered':
      return capitalize(
        `${things} for user ${user}, the last of ${of}, beside ${formatSite(site)}`,
      );
    case 'failed':
      return `${sofar}; the request for user ${user} has failed`;
    case 'given up':
      return `${sofar}; the rest was cancelled when the site changed`;
  }
}
