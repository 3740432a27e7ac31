/** What a replica notices, as alarms: clocks that are wild, and generators that throw by mistake. */
import { isCorrectableError } from '../../correctable/errors.ts';
import { textOf } from '../records/failure.ts';
import type { OnThrown } from '../generator/generator-budget.ts';
import type { ReplicaObserver } from '../replica/core/replica-port.ts';
import { shortText } from '../alarms/site-alarm.ts';
import type { OnAlarm, SiteAlarm } from '../alarms/site-alarm.ts';

/** Tells of clocks that are wild. */
export function clockObserver(sites: readonly string[], site: number, onAlarm: OnAlarm): ReplicaObserver {
  const tell = (kind: SiteAlarm['kind'], peer: number, what: string): void => {
    const names = { site: String(sites[site]), peer: String(sites[peer]) };
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

/** How many alarms of generators are told in a window: clients choose how often one throws. */
const THROWN_MAX = 10;
const THROWN_WINDOW_MS = 1000;

/**
 * Tells of what generators throw by mistake, so many a second. The next one that is told says how many were left out.
 */
export function generatorAlarm(site: string, onAlarm: OnAlarm, elapsedMs = (): number => performance.now()): OnThrown {
  let windowFromMs = -Infinity;
  let told = 0;
  let leftOut = 0;
  return (who, cause) => {
    const nowMs = elapsedMs();
    if (nowMs - windowFromMs >= THROWN_WINDOW_MS) {
      windowFromMs = nowMs;
      told = 0;
    }
    if (told >= THROWN_MAX) {
      leftOut += 1;
      return;
    }
    told += 1;
    const others = leftOut === 0 ? '' : ` (${leftOut} more alarms of this kind were left out before it)`;
    leftOut = 0;
    const message = `Site ${site}: ${who} threw ${shortText(thrownText(cause))}${others}`;
    onAlarm({ kind: 'generator-threw', site, message, cause });
  };
}

/** Its message may have no code in it; reading either runs code of whoever made it. */
function thrownText(thrown: unknown): string {
  try {
    return isCorrectableError(thrown) ? `${thrown.code}: ${thrown.message}` : textOf(thrown);
  } catch {
    return typeof thrown;
  }
}
