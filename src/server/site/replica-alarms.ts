/** What is noticed at a site, as alarms: wild clocks, generators that throw by mistake, messages that are not taken. */
import { isCorrectableError } from '../../correctable/errors.ts';
import { textOf } from '../records/failure.ts';
import type { Origin, Origins } from '../records/origin.ts';
import type { RefusedMessage } from '../messages/envelope.ts';
import type { OnThrown } from '../generator/generator-budget.ts';
import type { ReplicaObserver } from '../replica/core/replica-port.ts';
import { shortText } from '../alarms/site-alarm.ts';
import type { OnAlarm, SiteAlarm } from '../alarms/site-alarm.ts';

/** Tells of clocks that are wild. */
export function clockObserver(origins: Origins, site: Origin, onAlarm: OnAlarm): ReplicaObserver {
  const tell = (kind: SiteAlarm['kind'], peer: Origin, what: string): void => {
    const names = { site: origins.nameOf(site), peer: origins.nameOf(peer) };
    onAlarm({ kind, ...names, message: `Site ${names.peer}, as ${names.site} sees it: ${what}` });
  };
  return {
    quarantined: (peer, aheadMs) =>
      tell(
        'clock-quarantined',
        peer,
        `its clock is ${aheadMs} ms ahead. What it writes is refused until that is set right.`,
      ),
    released: (peer) => tell('clock-released', peer, 'its clock is right again, and what it writes is taken.'),
  };
}

/** How many alarms of a kind are told in a window: others choose how often there is a reason for one. */
const TOLD_MAX = 10;
const WINDOW_MS = 1000;

type Clock = () => number;

const now: Clock = () => performance.now();

/** Passes on so many a window; with each goes how many were left out before it, in words. */
function paced<A extends readonly unknown[]>(
  tell: (leftOut: string, ...args: A) => void,
  elapsedMs: Clock,
): (...args: A) => void {
  let windowFromMs = -Infinity;
  let told = 0;
  let leftOut = 0;
  return (...args) => {
    const nowMs = elapsedMs();
    if (nowMs - windowFromMs >= WINDOW_MS) {
      windowFromMs = nowMs;
      told = 0;
    }
    if (told >= TOLD_MAX) {
      leftOut += 1;
      return;
    }
    told += 1;
    const others = leftOut === 0 ? '' : ` (${leftOut} more alarms of this kind were left out before it)`;
    leftOut = 0;
    tell(others, ...args);
  };
}

/** Tells of what generators throw by mistake, so many a second. */
export function generatorAlarm(site: string, onAlarm: OnAlarm, elapsedMs: Clock = now): OnThrown {
  return paced((leftOut, who, cause) => {
    const message = `Site ${site}: ${who} threw ${shortText(thrownText(cause))}${leftOut}`;
    onAlarm({ kind: 'generator-threw', site, message, cause });
  }, elapsedMs);
}

/** Tells of messages that a site does not take, so many a second. */
export function refusalAlarm(
  origins: Origins,
  site: Origin,
  onAlarm: OnAlarm,
  elapsedMs: Clock = now,
): (refusal: RefusedMessage) => void {
  return paced((leftOut, { message: what, from }: RefusedMessage) => {
    const names = {
      site: origins.nameOf(site),
      peer: from === undefined ? 'somebody' : origins.nameOf(from as Origin),
    };
    const message = `Site ${names.site} took no notice of a message of ${names.peer}: ${shortText(what)}${leftOut}`;
    onAlarm({ kind: 'message-refused', ...names, message });
  }, elapsedMs);
}

/** Tells of a link that has no room, so many a second. */
export function fullLinkAlarm(site: string, peer: string, onAlarm: OnAlarm, elapsedMs: Clock = now): () => void {
  return paced((leftOut) => {
    const message = `So much is on its way from ${site} to ${peer} that a message was dropped; what matters of it is sent again${leftOut}`;
    onAlarm({ kind: 'link-full', site, peer, message });
  }, elapsedMs);
}

/** Its message may have no code in it; reading either runs code of whoever made it. */
function thrownText(thrown: unknown): string {
  try {
    return isCorrectableError(thrown) ? `${thrown.code}: ${thrown.message}` : textOf(thrown);
  } catch {
    return typeof thrown;
  }
}
