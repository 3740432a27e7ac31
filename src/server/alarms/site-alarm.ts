/** What an operator must know, and how it is noticed. */
import { isThenable } from '../../correctable/validate.ts';
import { toWellFormed } from '../../protocol/codec/tagged-values.ts';
import { formatThrown } from '../records/failures.ts';
import type { RedHalt } from '../log/red-log-reader.ts';
import type { StorageEvents } from '../log/site-storage.ts';
import { isNoSpace } from '../storage/disk/files.ts';

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
    | 'generator-error'
    /** The data folder may belong to a process elsewhere that was killed: the start waits to see, for 15 s at most. */
    | 'data-directory-locked'
    /** The log cannot be written: the site has stopped. */
    | 'site-stopped'
    /** A message of another site cannot be read, is of another deployment, goes by other rules, or says what cannot be. */
    | 'message-rejected'
    /** So much is on its way to another site that more is dropped: what matters of it is sent again. */
    | 'link-overflow'
    /** Another process has taken the data over: the site has stopped, and told nothing since then. */
    | 'site-fenced'
    /** The red log has a gap, or is not what it was: new red updates and strong reads are refused, blue updates go on. */
    | 'red-log-halted'
    /** An operation left a row, or all tables together, without what the service declares; told once a row and invariant. */
    | 'invariant-broken'
    /** Before the start: a generator is wrong, or the labels of the service could not be looked at. */
    | 'color-check-failed';
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
export function guardAlarmHandler(onAlarm: OnAlarm): OnAlarm {
  return (alarm) => {
    const instead = (error: unknown): void =>
      emitWarning({ ...alarm, message: `${alarm.message} (onAlarm failed: ${shortenText(formatThrown(error))})` });
    try {
      const value = onAlarm(alarm);
      if (isThenable(value)) value.then(undefined, instead);
    } catch (error) {
      instead(error);
    }
  };
}

/** Tells of a machine whose clock was set. */
export function createClockSetAlarm(site: string, onAlarm: OnAlarm): (byMs: number) => void {
  return (byMs) => {
    const way = byMs < 0 ? 'back' : 'forwards';
    const message = `Site ${site}: the clock of this machine was set ${way} by ${Math.abs(byMs)} ms. Nothing waits for it.`;
    onAlarm({ kind: 'clock-set', site, message });
  };
}

/** How much of what was thrown is told: clients choose much of it. */
const MAX_TEXT_LENGTH = 500;
const MAX_STACK_LENGTH = 4000;
/** The beginning of a text that clients chose, fit to be told. */
export function shortenText(text: string, max = MAX_TEXT_LENGTH): string {
  return text.length <= max ? text : `${toWellFormed(text.slice(0, max))}… (${text.length} characters)`;
}

/** Tells of a site's disk. */
export function createStorageAlarms(site: string, onAlarm: OnAlarm): StorageEvents {
  const tell = (kind: SiteAlarm['kind'], description: string): void =>
    void onAlarm({ kind, site, message: `Site ${site}: ${description}` });
  return {
    onFullChanged: (because) => {
      if (because !== undefined && isNoSpace(because)) {
        tell('disk-full', 'the disk is full. Updates are refused until there is room; reads are served.');
      } else if (because !== undefined) {
        tell('disk-full', `no log file can be made (${because.message}). Updates are refused until one can be.`);
      } else tell('disk-has-room', 'there is room on the disk again, and updates are taken.');
    },
    onCheckpointFailed: ({ message }) =>
      tell('checkpoint-failed', `no checkpoint could be written (${message}). Nothing is lost; it is tried again.`),
    onDamaged: (description) => tell('data-damaged', `${description}.`.replace(/\.\.$/, '.')),
    onStopped: ({ message }) =>
      tell('site-stopped', `its log cannot be written (${message}), so it has stopped. Fix the disk and restart.`),
    onFenced: ({ message }) =>
      tell('site-fenced', `another one has its data, so it has stopped (${message}). One process a data directory.`),
  };
}

/** Tells of a site that takes nothing more of the red log. */
export function createRedHaltedAlarm(site: string, onAlarm: OnAlarm): (halt: RedHalt) => void {
  return ({ reason, message }) => {
    const description = reason === 'gap' ? 'records of the red log are missing' : 'the red log is not what it was';
    const remaining =
      'Red updates and strong reads are refused until it is repaired and the site restarted; blue updates go on.';
    onAlarm({ kind: 'red-log-halted', site, message: `Site ${site}: ${description} (${message}). ${remaining}` });
  };
}

/** Where alarms go unless somebody asks for them. */
export function emitWarning({ message, kind, cause }: SiteAlarm): void {
  process.emitWarning(message, { code: kind, detail: formatStack(cause) });
}

function formatStack(thrown: unknown): string | undefined {
  try {
    return thrown instanceof Error && thrown.stack !== undefined
      ? shortenText(thrown.stack, MAX_STACK_LENGTH)
      : undefined;
  } catch {
    return undefined;
  }
}
