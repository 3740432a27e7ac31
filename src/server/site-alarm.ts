/** What an operator must know, and how it is noticed. */
import { isCorrectableError } from '../correctable/errors.ts';
import { isThenable } from '../correctable/given.ts';
import { wellFormed } from '../protocol/value-domain.ts';
import { textOf } from './redblue/failure.ts';
import type { OnThrown } from './redblue/generator-budget.ts';
import type { ReplicaObserver } from './redblue/replica-port.ts';
import { isNoSpace } from './storage/files.ts';

/** What an operator must know. */
export interface SiteAlarm {
  readonly kind:
    | 'clock-quarantined'
    | 'clock-released'
    /** The clock of this machine was set forwards or back by more than sites may differ: nothing waits for it. */
    | 'clock-set'
    /** No room for another log file, or none can be made for another reason: updates are refused, reads served. */
    | 'disk-full'
    | 'disk-has-room'
    /** Nothing is lost; the logs stay longer, and it is tried again. */
    | 'checkpoint-failed'
    /** Something in the data folder is damaged or gone: where something is lost by it, the site does not start. */
    | 'data-damaged'
    /**
     * A generator, or what makes the reply of a shadow operation, threw what no contract declares: told here alone, 500
     * characters of it, ten times a second.
     */
    | 'generator-threw'
    /** The log cannot be written: the site has stopped. */
    | 'site-stopped'
    /** An operation left a row without what the service declares of it; told once a row and invariant. */
    | 'invariant-broken';
  /** The site that noticed. */
  readonly site: string;
  /** The site that it is about, where that is another one. */
  readonly peer?: string;
  readonly message: string;
  /** What was thrown, where that is the reason. */
  readonly cause?: unknown;
}

/** Is told of alarms. */
export type OnAlarm = (alarm: SiteAlarm) => unknown;

/** Who tells of an alarm is in the middle of something: whatever `onAlarm` does, that goes on, and the alarm is heard. */
export function guardedAlarm(onAlarm: OnAlarm): OnAlarm {
  return (alarm) => {
    const instead = (error: unknown): void =>
      warn({ ...alarm, message: `${alarm.message} (onAlarm failed: ${shortText(textOf(error))})` });
    try {
      const given = onAlarm(alarm);
      if (isThenable(given)) given.then(undefined, instead);
    } catch (error) {
      instead(error);
    }
  };
}

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

/** Tells of a machine whose clock was set. */
export function clockSetAlarm(site: string, onAlarm: OnAlarm): (byMs: number) => void {
  return (byMs) => {
    const way = byMs < 0 ? 'back' : 'forwards';
    const message = `Site ${site}: the clock of this machine was set ${way} by ${Math.abs(byMs)} ms. Nothing waits for it.`;
    onAlarm({ kind: 'clock-set', site, message });
  };
}

/** How much of what was thrown is told: clients choose much of it. */
const TEXT_MAX = 500;
const STACK_MAX = 4000;
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

function shortText(text: string, max = TEXT_MAX): string {
  return text.length <= max ? text : `${wellFormed(text.slice(0, max))}… (${text.length} characters)`;
}

/** What a site's storage tells of. */
export interface StorageEvents {
  /** No log file can be made, and why; or one can again. */
  fullChanged(because: Error | undefined): void;
  checkpointFailed(error: Error): void;
  /** Something that was on the disk is not there any more, or not whole. */
  damaged(what: string): void;
  stopped(error: Error): void;
}

/** Tells of a site's disk. */
export function storageAlarms(site: string, onAlarm: OnAlarm): StorageEvents {
  const tell = (kind: SiteAlarm['kind'], what: string): void =>
    void onAlarm({ kind, site, message: `Site ${site}: ${what}` });
  return {
    fullChanged: (because) => {
      if (because !== undefined && isNoSpace(because)) {
        tell('disk-full', 'the disk is full. Updates are refused until there is room; reads are served.');
      } else if (because !== undefined) {
        tell('disk-full', `no log file can be made (${because.message}). Updates are refused until one can be.`);
      } else tell('disk-has-room', 'there is room on the disk again, and updates are taken.');
    },
    checkpointFailed: ({ message }) =>
      tell('checkpoint-failed', `no checkpoint could be written (${message}). Nothing is lost; it is tried again.`),
    damaged: (what) => tell('data-damaged', `${what}.`.replace(/\.\.$/, '.')),
    stopped: ({ message }) =>
      tell('site-stopped', `its log cannot be written (${message}), so it has stopped. Mend the disk and restart.`),
  };
}

/** Where alarms go unless somebody asks for them. */
export function warn({ message, kind, cause }: SiteAlarm): void {
  process.emitWarning(message, { code: kind, detail: stackOf(cause) });
}

function stackOf(thrown: unknown): string | undefined {
  try {
    return thrown instanceof Error && thrown.stack !== undefined ? shortText(thrown.stack, STACK_MAX) : undefined;
  } catch {
    return undefined;
  }
}
