/** What an operator must know, and how it is noticed. */
import type { ReplicaObserver } from './redblue/replica-port.ts';

/** What an operator must know. */
export interface SiteAlarm {
  readonly kind:
    | 'clock-quarantined'
    | 'clock-released'
    /** No room for another log file: updates are refused, reads served. */
    | 'disk-full'
    | 'disk-has-room'
    /** Nothing is lost; the logs stay longer, and it is tried again. */
    | 'checkpoint-failed'
    /** A generator threw what its contract does not declare; its text is told here alone. */
    | 'generator-threw'
    /** The log cannot be written: the site has stopped. */
    | 'site-stopped';
  /** The site that noticed. */
  readonly site: string;
  /** The site that it is about, where that is another one. */
  readonly peer?: string;
  readonly message: string;
}

/** Is told of alarms. */
export type OnAlarm = (alarm: SiteAlarm) => void;

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
        `its clock is ${aheadMs} ms ahead. What it writes is refused until then: set it.`,
      ),
    released: (peer) => tell('clock-released', peer, 'its clock is right again, and what it writes is taken.'),
  };
}

/** Tells of what generators throw by mistake. */
export function generatorAlarm(site: string, onAlarm: OnAlarm): (operation: string, text: string) => void {
  return (operation, text) =>
    onAlarm({ kind: 'generator-threw', site, message: `Site ${site}: the generator of '${operation}' threw: ${text}` });
}

/** What a site's storage tells of. */
export interface StorageEvents {
  fullChanged(isFull: boolean): void;
  checkpointFailed(error: Error): void;
  stopped(error: Error): void;
}

/** Tells of a site's disk. */
export function storageAlarms(site: string, onAlarm: OnAlarm): StorageEvents {
  const tell = (kind: SiteAlarm['kind'], what: string): void =>
    onAlarm({ kind, site, message: `Site ${site}: ${what}` });
  return {
    fullChanged: (isFull) => {
      if (isFull) tell('disk-full', 'the disk is full. Updates are refused until there is room; reads are served.');
      else tell('disk-has-room', 'there is room on the disk again, and updates are taken.');
    },
    checkpointFailed: ({ message }) =>
      tell('checkpoint-failed', `no checkpoint could be written (${message}). Nothing is lost; it is tried again.`),
    stopped: ({ message }) =>
      tell('site-stopped', `its log cannot be written (${message}), so it has stopped. Mend the disk and restart.`),
  };
}

/** Where alarms go unless somebody asks for them. */
export function warn({ message, kind }: SiteAlarm): void {
  process.emitWarning(message, { code: kind });
}
