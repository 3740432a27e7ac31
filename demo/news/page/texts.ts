/** The sentences of the news page, computed from what the reader knows. */
import { formatMs } from '../../shared/page/format.ts';
import { formatSite } from '../../shared/page/site-names.ts';
import type { ThreadFaults } from '../comments.ts';
import type { NewsState } from '../server.ts';
import { NEWSROOM, SLOW_FACTOR, type Site } from '../sites.ts';
import {
  getStepState,
  STEPS,
  type FrontPageReading,
  type Step,
  type StepState,
} from './front-page-reading.ts';

export type Phase = 'connecting' | 'ready' | 'offline' | 'failed';

const PHASES: Readonly<Record<Phase, string>> = {
  connecting: 'Connecting to the sites…',
  ready: 'Online',
  offline: 'Offline: reading from this device',
  failed: 'No connection: trying again…',
};

export function formatPhase(phase: Phase): string {
  return PHASES[phase];
}

/** Returns the name of a step for visitors. */
export function formatStep(step: Step, site: Site): string {
  if (step === 'cache') return 'This device';
  if (step === 'causal') return `Near site, ${formatSite(site)}`;
  return `Confirmed by ${formatSite(NEWSROOM)}`;
}

export function formatStepTime(state: StepState): string {
  if (state.kind === 'done') return formatMs(state.view.ms);
  return state.kind === 'waiting' ? '…' : '–';
}

/** @param nowMs the time of the page, in milliseconds since the epoch */
export function formatStepNote(step: Step, state: StepState, nowMs: number): string {
  if (state.kind !== 'done') return formatMissing(step, state);
  const { view, newStories, isFirst } = state;
  if (step === 'cache')
    return view.cachedAt === undefined ? 'stored' : `stored ${formatAge(nowMs - view.cachedAt)}`;
  if (isFirst) return `${view.stories.length} headlines`;
  return newStories === 0 ? 'nothing new' : `${newStories} new`;
}

function formatMissing(
  step: Step,
  { kind }: Exclude<StepState, { readonly kind: 'done' }>,
): string {
  if (kind === 'waiting') return 'on its way';
  if (step === 'cache') return 'nothing stored yet';
  if (kind === 'offline') return 'not asked: offline';
  return kind === 'failed' ? 'did not answer' : 'no answer of its own';
}

export function formatAge(ageMs: number): string {
  const seconds = Math.max(0, Math.round(ageMs / 1_000));
  if (seconds < 2) return 'just now';
  if (seconds < 120) return `${seconds} s ago`;
  return `${Math.round(seconds / 60)} min ago`;
}

/** Describes what the opening of the front page has shown. */
export function formatHeadline(reading: FrontPageReading): string {
  const [cache, causal, strong] = STEPS.map((step) => getStepState(reading, step));
  const first = [cache, causal, strong].find((state) => state?.kind === 'done');
  if (first?.kind !== 'done') {
    return reading.failure === 'offline'
      ? 'Offline, and nothing is stored on this device yet.'
      : 'Opening the news…';
  }
  const start = `On screen after ${formatMs(first.view.ms)}`;
  if (strong?.kind === 'done') return `${start}, confirmed after ${formatMs(strong.view.ms)}.`;
  if (reading.failure === 'offline') return `${start}. Offline: newer headlines may exist.`;
  return reading.failure === undefined
    ? `${start}, not confirmed yet…`
    : `${start}, not confirmed.`;
}

/**
 * Describes whether a thread is in order for its reader.
 *
 * @param held comments that another store shows already
 */
export function formatVerdict({ orphans, missing }: ThreadFaults, held = 0): string {
  const faults = [
    ...(orphans > 0
      ? [`${orphans === 1 ? '1 answer' : `${orphans} answers`} without a question`]
      : []),
    ...(missing > 0
      ? [`${missing === 1 ? '1 comment' : `${missing} comments`} of yours missing`]
      : []),
  ];
  if (faults.length > 0) return faults.join(', ');
  if (held === 0) return 'In order';
  return `In order, ${held === 1 ? '1 comment waits' : `${held} comments wait`} for what came before`;
}

export function formatTimesWrong(count: number): string {
  if (count === 0) return 'Never wrong so far.';
  return count === 1 ? 'Wrong once so far.' : `Wrong ${count} times so far.`;
}

/** How long each level of one read of the comments took. */
export type ThreadTimes = Readonly<Partial<Record<'cache' | 'causal' | 'latest', number>>>;

export function formatThreadMs({ cache, causal, latest }: ThreadTimes): string {
  const parts = [
    ...(cache === undefined ? [] : [`this device ${formatMs(cache)}`]),
    ...(causal === undefined ? [] : [`near site ${formatMs(causal)}`]),
    ...(latest === undefined ? [] : [`all sites ${formatMs(latest)}`]),
  ];
  return parts.length === 0 ? '' : `One read: ${parts.join(', ')}.`;
}

export function formatServer({ delays, hasRedis }: Pick<NewsState, 'delays' | 'hasRedis'>): string {
  const redis = hasRedis ? 'Both kinds of comments are on a Redis Cluster at each site. ' : '';
  return delays === 'slow'
    ? `${redis}The delays between the sites are ${SLOW_FACTOR} times the real ones, so that you can watch.`
    : `${redis}The delays between the sites are about the real ones.`;
}

export type PlayStep = 'idle' | 'asking' | 'waiting' | 'repaired';

export function formatPlay(step: PlayStep, site: Site, isCut: boolean): string {
  const place = formatSite(site);
  switch (step) {
    case 'asking':
      return 'The line Dublin–Sydney is down. Ann asks in Dublin, Bob answers in Oregon…';
    case 'waiting':
      return site === 'sydney'
        ? 'Both have written. Only Bob’s answer has a way to you in Sydney.'
        : `Both have written, and ${place} has both. Move to Sydney: only Bob’s answer has a way there.`;
    case 'repaired':
      return 'The line is repaired, so Ann’s question arrives in Sydney, too.';
    case 'idle':
      return isCut
        ? 'The line Dublin–Sydney is down.'
        : 'Ann asks in Dublin. Bob sees it in Oregon, and answers.';
  }
}

export type PostState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'sending' | 'queued' }
  | { readonly kind: 'sent'; readonly site: Site; readonly ms: number }
  | { readonly kind: 'refused' | 'unknown' | 'behind' };

export function formatPost(state: PostState): string {
  switch (state.kind) {
    case 'idle':
      return '';
    case 'sending':
      return 'Sending…';
    case 'queued':
      return 'Offline: your comment waits a few seconds for a connection…';
    case 'sent':
      return `Stored in ${formatSite(state.site)} after ${formatMs(state.ms)}.`;
    case 'refused':
      return 'Not sent, since there is no connection. Nothing was changed: post it again when you are online.';
    case 'unknown':
      return 'No answer. The comment may have been stored: look before you post it again.';
    case 'behind':
      return 'Not sent: your earlier comments have not arrived at this site yet. Post it again in a moment.';
  }
}

export type MoveState =
  | { readonly kind: 'settled' }
  | { readonly kind: 'waiting'; readonly site: Site }
  | {
      readonly kind: 'arrived';
      readonly site: Site;
      readonly ms: number;
      readonly hasOwn: boolean;
    };

export function formatMove(state: MoveState, site: Site): string {
  switch (state.kind) {
    case 'settled':
      return `Your device talks to the near site, ${formatSite(site)}. The newsroom is in ${formatSite(NEWSROOM)}.`;
    case 'waiting':
      return `Waiting until ${formatSite(state.site)} has all that you have read and written…`;
    case 'arrived': {
      const found = state.hasOwn ? ' Your own comments are there.' : '';
      return `${formatSite(state.site)} answered after ${formatMs(state.ms)}, with all that you had read.${found}`;
    }
  }
}
