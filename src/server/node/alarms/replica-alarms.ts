/**
 * Raises alarms about clocks that are wrong, generators that throw by mistake, and messages that
 * are not taken.
 */
import { isCorrectableError } from '../../../correctable/errors.ts';
import { formatThrown } from '../../service/records/failures.ts';
import type { Origin, Origins } from '../../service/records/origin.ts';
import type { RejectedMessageError } from '../../site/wire/envelope.ts';
import type { OnGeneratorError } from '../../service/generator/generator-budget.ts';
import type { SiteObserver } from '../../site/core/site-core.ts';
import { shortenText, type OnAlarm, type SiteAlarm } from './site-alarm.ts';

/**
 * Returns an observer that raises the alarms about other sites: their clocks, and sites that are
 * away for too long.
 */
export function createClockObserver(
  origins: Origins,
  site: Origin,
  onAlarm: OnAlarm,
): SiteObserver {
  const raise = (kind: SiteAlarm['kind'], peer: Origin, description: string): void => {
    const names = { site: origins.getName(site), peer: origins.getName(peer) };
    onAlarm({
      kind,
      ...names,
      message: `Site ${names.peer}, as ${names.site} sees it: ${description}`,
    });
  };
  return {
    onQuarantined: (peer, aheadMs) =>
      raise(
        'clock-quarantined',
        peer,
        `its clock is ${aheadMs} ms ahead. Its writes are refused until the clock is corrected.`,
      ),
    onReleased: (peer) =>
      raise('clock-released', peer, 'its clock is right again, and what it writes is taken.'),
    onClockBehind: (byMs, shownBy) => {
      const name = origins.getName(site);
      const [evidence, effect] =
        shownBy === 'log'
          ? ['the other sites, as the stamps in its own log show', 'It goes on above these stamps']
          : ['the clocks of most other sites', 'It refuses what they write until that has changed'];
      onAlarm({
        kind: 'clock-behind',
        site: name,
        message: `Site ${name}: its own clock is ${byMs} ms behind ${evidence}. ${effect}. Set the clock of its machine.`,
      });
    },
    onStalled: (peer, backlog) =>
      raise(
        'stream-stalled',
        peer,
        `it answers, but has confirmed nothing for 60 s of ${backlog} entries that it lacks. They are kept, and are not visible there. Look at its alarms, and whether the link carries what is sent (correctables_link_*).`,
      ),
    onLeftBehind: (peer) =>
      raise(
        'site-left-behind',
        peer,
        'it has been away for too long, and no more operations are kept for it. Once it is back, it takes the state of another site.',
      ),
    onCutOff: (peers, isFull) => {
      const [name, away] = [
        origins.getName(site),
        peers.map((peer) => origins.getName(peer)).join(', '),
      ];
      const fate = isFull
        ? 'No more can be kept, so updates are refused.'
        : 'Everything is kept for them, up to maxBacklogEntries entries. Then updates are refused.';
      const advice = 'Repair the links, or start these sites. Retire those that are lost for good.';
      const problem = `has waited too long for ${away}, and without them there is no majority of the sites`;
      onAlarm({
        kind: 'site-cut-off',
        site: name,
        message: `Site ${name} ${problem}. ${fate} ${advice}`,
      });
    },
  };
}

/**
 * The maximum of alarms of a kind in one window. Other sites and clients decide how often there is
 * a cause.
 */
const MAX_ALARMS_PER_WINDOW = 10;
const WINDOW_MS = 1000;

type Clock = () => number;

const readClock: Clock = () => performance.now();

/**
 * Passes on a limited number of alarms in each window. Each one states how many were left out
 * before it.
 */
function throttleAlarms<A extends readonly unknown[]>(
  raise: (leftOut: string, ...args: A) => void,
  elapsedMs: Clock,
): (...args: A) => void {
  let windowFromMs = -Infinity;
  let reported = 0;
  let leftOut = 0;
  return (...args) => {
    const nowMs = elapsedMs();
    if (nowMs - windowFromMs >= WINDOW_MS) {
      windowFromMs = nowMs;
      reported = 0;
    }
    if (reported >= MAX_ALARMS_PER_WINDOW) {
      leftOut += 1;
      return;
    }
    reported += 1;
    const others =
      leftOut === 0 ? '' : ` (${leftOut} more alarms of this kind were left out before it)`;
    leftOut = 0;
    raise(others, ...args);
  };
}

/** Reports undeclared errors of generators, up to a number each second. */
export function createGeneratorAlarm(
  site: string,
  onAlarm: OnAlarm,
  elapsedMs: Clock = readClock,
): OnGeneratorError {
  return throttleAlarms((leftOut, caller, cause) => {
    const message = `Site ${site}: ${caller} threw ${shortenText(formatThrownSafely(cause))}${leftOut}`;
    onAlarm({ kind: 'generator-error', site, message, cause });
  }, elapsedMs);
}

/** Reports messages that a site does not accept, up to a number each second. */
export function createRejectionAlarm(
  origins: Origins,
  site: Origin,
  onAlarm: OnAlarm,
): (rejection: RejectedMessageError) => void {
  return throttleAlarms((leftOut, { message: description, from }: RejectedMessageError) => {
    const names = {
      site: origins.getName(site),
      peer: from === undefined ? 'an unknown site' : origins.getName(from as Origin),
    };
    const reason = `${shortenText(description)}${leftOut}`;
    const message = `Site ${names.site} took no notice of a message of ${names.peer}: ${reason}`;
    onAlarm({ kind: 'message-rejected', ...names, message });
  }, readClock);
}

/** Reports a link that has no room, up to a number each second. */
export function createLinkAlarm(
  site: string,
  peer: string,
  onAlarm: OnAlarm,
  elapsedMs: Clock = readClock,
): () => void {
  return throttleAlarms((leftOut) => {
    const message = `So much is on its way from ${site} to ${peer} that a message was dropped; what matters of it is sent again${leftOut}`;
    onAlarm({ kind: 'link-overflow', site, peer, message });
  }, elapsedMs);
}

/** The thrown value may have getters, whose code must not run here. */
function formatThrownSafely(thrown: unknown): string {
  try {
    return isCorrectableError(thrown) ? `${thrown.code}: ${thrown.message}` : formatThrown(thrown);
  } catch {
    return typeof thrown;
  }
}
