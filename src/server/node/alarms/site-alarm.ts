/** Alarms for the operator of a site, and the functions that raise them. */
import { isThenable } from '../../../correctable/validate.ts';
import { toWellFormed } from '../../../protocol/codec/tagged-values.ts';
import { formatThrown } from '../../service/records/failures.ts';
import type { LostRight } from '../../site/site-event.ts';
import type { Origin, Origins } from '../../service/records/origin.ts';
import type { RedHalt } from '../../log/red-log-consumer.ts';
import type { StorageEvents } from '../../log/site-storage.ts';
import { isNoSpace } from '../storage/disk/files.ts';

/** An alarm for the operator of a site. */
export interface SiteAlarm {
  readonly kind:
    | 'clock-quarantined'
    | 'clock-released'
    /**
     * The clock of this site is too far behind the stamps in its own log, or the clocks of most
     * other sites.
     */
    | 'clock-behind'
    /**
     * The clock of this machine was set by more than the allowed difference between sites.
     * Operations do not wait for it.
     */
    | 'clock-set'
    /**
     * The site cannot create a log file, for example since the disk is full. It refuses writes and
     * serves reads.
     */
    | 'disk-full'
    | 'disk-has-room'
    /**
     * The site has used 80 % of the memory that it may, or 90 %. Then it refuses writes that do not
     * remove anything. The message has what takes the memory.
     */
    | 'memory-low'
    | 'memory-has-room'
    /** No data is lost. The site keeps the logs longer and tries again. */
    | 'checkpoint-failed'
    /**
     * Something in the data directory is damaged or missing. If data is lost, the site does not
     * start. If a read finds it later, the site stops, and answers nothing.
     */
    | 'data-damaged'
    /**
     * A generator, or the `reply` of a shadow operation, threw an undeclared error. Only the alarm
     * contains it: up to 500 characters, ten times a second.
     */
    | 'generator-error'
    /**
     * The data directory may belong to a process on another host that was killed. The start waits
     * up to 15 s.
     */
    | 'data-directory-locked'
    /** The log cannot be written. The site has stopped. */
    | 'site-stopped'
    /**
     * A message of another site is unreadable, impossible, from another deployment, or follows
     * other rules.
     */
    | 'message-rejected'
    /**
     * Too many messages are in flight to another site. More are dropped. The necessary ones are
     * resent.
     */
    | 'link-overflow'
    /**
     * The link to another site has been down for 5 s. Red operations wait if it leads the red log,
     * others continue.
     */
    | 'link-down'
    | 'link-up'
    /** The site was taken out of the deployment, or replaced. It has stopped. */
    | 'site-retired'
    /**
     * The site receives the state of another site, because it was disconnected for too long. It
     * serves again after that.
     */
    | 'site-behind'
    /**
     * The red log was restored without records that this site had, and may have confirmed. They are
     * in a file in its data directory.
     */
    | 'red-records-dropped'
    /**
     * An operator began to restore the red log, and did not end it. The site serves nothing until
     * that is repeated.
     */
    | 'red-log-sealed'
    /**
     * The site needs the state of another site, and has received nothing for 60 s. It keeps trying.
     */
    | 'transfer-stalled'
    /**
     * The site needs the state of another site, but each of them lacks operations that this one
     * has. It keeps trying.
     */
    | 'transfer-refused'
    /** A peer has another key, deployment or cluster.json. Raised once until that has changed. */
    | 'link-refused'
    /** Another site answers, but for 60 s it has confirmed none of the entries that it lacks. */
    | 'stream-stalled'
    /**
     * Another site has been disconnected for too long. Logs are no longer kept for it, so it must
     * receive the state of a site when it returns.
     */
    | 'site-left-behind'
    /**
     * Other sites have been disconnected for too long, and without them there is no majority. So
     * all logs are still kept for them.
     */
    | 'site-cut-off'
    /**
     * Another process has taken over the data. The site has stopped, and has sent no answers since
     * then.
     */
    | 'site-fenced'
    /**
     * Another node runs as this site (or as `peer`), on an older or copied directory. One of the
     * two nodes has stopped.
     */
    | 'site-forked'
    /**
     * No other site has answered within 10 s after the start. The site accepts updates all the
     * same.
     */
    | 'site-alone'
    /**
     * A newer version of the program or the service was activated. The site has stopped, or does
     * not start.
     */
    | 'newer-version-needed'
    /**
     * The red log has a gap or has changed. New red writes and strong reads are refused, blue
     * writes continue.
     */
    | 'red-log-halted'
    /**
     * The red log of this site and that of another one differ. It has halted, as with
     * `red-log-halted`.
     */
    | 'red-log-differs'
    /**
     * No server of etcd has answered for 3 s. Red operations and strong reads wait, blue operations
     * continue.
     */
    | 'red-log-unreachable'
    | 'red-log-reachable'
    /**
     * etcd has little room left, or none. New red operations fail with `OVERLOADED`. The message
     * has the commands to run.
     */
    | 'red-log-full'
    | 'red-log-has-room'
    /**
     * A site was retired or rebuilt, and its rights to bounded counters are lost. The message has
     * the amounts.
     */
    | 'rights-lost'
    /**
     * Rows of this site and of another one differ, though both have applied the same operations.
     * Reported once for each row and other site. The message has keys.
     */
    | 'sites-diverged'
    /** An operation broke an invariant of the service. Raised once for each row and invariant. */
    | 'invariant-broken'
    /**
     * Before the start: a generator is wrong, a write brings back a removed row, or the colors of
     * the service could not be checked.
     */
    | 'color-check-failed'
    /**
     * Before the start of a deployment with several partitions: a write that may be red does not
     * declare its own. Raised once for each.
     */
    | 'operation-without-partition'
    /**
     * Of the last 100 runs of an operation at the site, more than half had rows of several
     * partitions. Raised once for each operation.
     */
    | 'operation-mostly-global'
    /**
     * Operations over several partitions have held rows for 10 s. Raised once for a partition and a
     * home log, until these rows are free.
     */
    | 'rows-held'
    /**
     * A site was retired, and fewer than three of the voters of a partition are left, or one of
     * two. Raised once for each partition, until there are enough again.
     */
    | 'few-voters';
  /** The site that raised the alarm. */
  readonly site: string;
  /** The other site that the alarm is about, if any. */
  readonly peer?: string;
  readonly message: string;
  /** The error that caused the alarm, if any. */
  readonly cause?: unknown;
}

/**
 * A change of the state of the etcd servers. `full` without a message means that there is space
 * again.
 */
interface RedLogServerState {
  readonly kind: 'unavailable' | 'available' | 'full';
  readonly message?: string | undefined;
}

/** Called with each alarm. */
export type OnAlarm = (alarm: SiteAlarm) => unknown;

/**
 * Guards the handler: alarms are raised in the middle of other work, which must go on. If `onAlarm`
 * throws, the alarm becomes a warning.
 */
export function guardAlarmHandler(onAlarm: OnAlarm): OnAlarm {
  return (alarm) => {
    const instead = (error: unknown): void =>
      emitWarning({
        ...alarm,
        message: `${alarm.message} (onAlarm failed: ${shortenText(formatThrown(error))})`,
      });
    try {
      const value = onAlarm(alarm);
      if (isThenable(value)) value.then(undefined, instead);
    } catch (error) {
      instead(error);
    }
  };
}

/** Creates the function that raises the alarms of a site. */
export function createAlarmRaiser(
  site: string,
  onAlarm: OnAlarm,
): (kind: SiteAlarm['kind'], text: string) => void {
  return (kind, text) => void onAlarm({ kind, site, message: `Site ${site}: ${text}` });
}

/** How much of an error's text an alarm contains. Clients choose much of that text. */
const MAX_TEXT_LENGTH = 500;
const MAX_STACK_LENGTH = 4000;
/**
 * Returns the beginning of a text that clients chose, without characters that are unsafe to print.
 */
export function shortenText(text: string, max = MAX_TEXT_LENGTH): string {
  return text.length <= max
    ? text
    : `${toWellFormed(text.slice(0, max))}… (${text.length} characters)`;
}

/** Creates the functions that raise the alarms of a site's disk. */
export function createStorageAlarms(site: string, onAlarm: OnAlarm): StorageEvents {
  const raise = createAlarmRaiser(site, onAlarm);
  return {
    onFullChanged: (because) => {
      if (because !== undefined && isNoSpace(because)) {
        raise(
          'disk-full',
          'the disk is full. Writes are refused until there is room; reads are served.',
        );
      } else if (because !== undefined) {
        raise(
          'disk-full',
          `no log file can be made (${because.message}). Writes are refused until one can be.`,
        );
      } else raise('disk-has-room', 'there is room on the disk again, and writes are taken.');
    },
    onCheckpointFailed: ({ message }) =>
      raise(
        'checkpoint-failed',
        `no checkpoint could be written (${message}). Nothing is lost; it is tried again.`,
      ),
    onDamaged: (description) => raise('data-damaged', `${description}.`.replace(/\.\.$/, '.')),
    onStopped: ({ message }) =>
      raise(
        'site-stopped',
        `its log cannot be written (${message}), so it has stopped. Fix the disk and restart.`,
      ),
    onFenced: ({ message }) =>
      raise(
        'site-fenced',
        `another one has its data, so it has stopped (${message}). One process a data directory.`,
      ),
  };
}

const HALT_REASONS: Readonly<Record<RedHalt['reason'], string>> = {
  gap: 'records of the red log are missing',
  regressed: 'the red log is not what it was',
  differs: 'the red log of another site is not the same',
};

/** Raises the alarms of a site that runs. */
export interface SiteAlarms {
  /** The clock of this machine was set by this many milliseconds. */
  onClockSet(byMs: number): void;
  /** The site accepts no further records of the red log. */
  onRedHalted(halt: RedHalt): void;
  onRedLogServer(state: RedLogServerState): void;
  /** Two nodes run as this site, or as `peer`. */
  onForked(problem: string, peer?: Origin): void;
  /** A read of the rows on the disk has found damage. */
  onDamaged(problem: string): void;
  /** The activated version is newer than the one that the site runs. */
  onOutdated(problem: string): void;
  /** The rights of a closed site to bounded fields are lost. */
  onRightsLost(origin: Origin, lost: readonly LostRight[]): void;
  /** The site has received nothing from another site since its start. */
  onAlone(): void;
}

export function createSiteAlarms(site: string, origins: Origins, onAlarm: OnAlarm): SiteAlarms {
  const raise = createAlarmRaiser(site, onAlarm);
  return {
    onClockSet: (byMs) => {
      const way = byMs < 0 ? 'back' : 'forwards';
      raise(
        'clock-set',
        `the clock of this machine was set ${way} by ${Math.abs(byMs)} ms. Nothing waits for it.`,
      );
    },
    onDamaged: (problem) => {
      const advice =
        'It has stopped, and answers nothing. Rebuild it from another site, or put a backup back: `correctables inspect --deep <dataDir>` lists all damage.';
      raise('data-damaged', `its rows are damaged (${problem}). ${advice}`);
    },
    onRedHalted: ({ reason, message }) => {
      const kind = reason === 'differs' ? 'red-log-differs' : 'red-log-halted';
      const remaining =
        'Red writes and strong reads are refused until it is repaired and the site restarted; blue writes go on.';
      raise(kind, `${HALT_REASONS[reason]} (${message}). ${remaining}`);
    },
    onRedLogServer: ({ kind, message }) => {
      const waits = 'Red operations and strong reads wait; blue operations go on.';
      if (kind === 'unavailable')
        raise('red-log-unreachable', `the red log cannot be reached (${message}). ${waits}`);
      else if (kind === 'available')
        raise('red-log-reachable', 'the red log can be reached again.');
      else if (message === undefined)
        raise('red-log-has-room', 'etcd has room again, and red operations are taken.');
      else
        raise(
          'red-log-full',
          `etcd is nearly full: ${message}. New red operations and strong reads are refused.`,
        );
    },
    onForked: (problem, peer) => {
      if (peer === undefined) {
        const message = `Site ${site} has stopped: another node has gone on as this site (${problem}). Start it on its newest data directory, or with --rebuild.`;
        return void onAlarm({ kind: 'site-forked', site, message });
      }
      const name = origins.getName(peer);
      const message = `Site ${site} takes nothing from this start of ${name}: ${problem}. Stop that node. Start it on its newest data directory, or with --rebuild.`;
      onAlarm({ kind: 'site-forked', site, peer: name, message });
    },
    onOutdated: (problem) => {
      const advice = 'Nothing is lost. Start it with the newer version on the same data directory.';
      raise('newer-version-needed', `${problem}. ${advice}`);
    },
    onRightsLost: (origin, lost) => {
      const peer = origins.getName(origin);
      const message = `Site ${site}: ${peer} was closed with rights that no site can take any more: ${formatLostRights(lost)}. They count as used. If no operation of ${peer} is missing, give as much again by an operation of your service: once, since each site reports this.`;
      onAlarm({ kind: 'rights-lost', site, peer, message });
    },
    onAlone: () => {
      const message = `Site ${site} is confirmed by no other site since its start: another node may have gone on as this site. It refuses updates until one has confirmed it. Check the links, and that the other sites have its address in their cluster.json.`;
      onAlarm({ kind: 'site-alone', site, message });
    },
  };
}

/** How many rows a message names. */
const MAX_NAMED_ROWS = 10;

/** Formats the sum of each field, with the rows that have most of it. */
function formatLostRights(lost: readonly LostRight[]): string {
  const fields = new Map<string, LostRight[]>();
  for (const right of lost) {
    const name = `${right.table}.${right.field}`;
    fields.set(name, [...(fields.get(name) ?? []), right]);
  }
  const parts = [...fields].map(([name, rights]) => {
    const sum = rights.reduce((total, { amount }) => total + amount, 0);
    const most = rights.toSorted((a, b) => b.amount - a.amount).slice(0, MAX_NAMED_ROWS);
    const rows = most.map(({ key, amount }) => `${shortenText(key, 100)}: ${amount}`);
    if (rights.length > most.length) rows.push(`${rights.length - most.length} more rows`);
    return `${sum} of ${name} (${rows.join(', ')})`;
  });
  return parts.join('; ');
}

/** Handles alarms by default: each becomes a process warning. */
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

const BYTES_PER_MIB = 1 << 20;

export interface TransferAlarms {
  onStalled(problem: string): void;
  onFullChanged(because: Error | undefined, neededBytes?: number): void;
  onRefused(problems: ReadonlyMap<string, string>): void;
}

export function createTransferAlarms(site: string, onAlarm: OnAlarm): TransferAlarms {
  const raise = createAlarmRaiser(site, onAlarm);
  return {
    onStalled: (problem) =>
      raise(
        'transfer-stalled',
        `it needs the state of another site, and nothing of it comes (${problem}). It goes on trying.`,
      ),
    onRefused: (problems) => {
      const reasons = [...problems].map(([donor, problem]) => `${donor}: ${problem}`).join(' ');
      const advice = `To end this, run "correctables cluster retire --site ${site}", then start ${site} with --rebuild`;
      raise(
        'transfer-refused',
        `it needs the state of another site, but each of them lacks operations that this one has. ${reasons} It goes on trying. ${advice}. The operations that no other site has are in unsent-operations.json then.`,
      );
    },
    onFullChanged: (because, neededBytes = 0) => {
      if (because === undefined)
        raise('disk-has-room', 'the state of another site can be written again.');
      else {
        const reason = isNoSpace(because) ? 'the disk is full' : because.message;
        const room =
          neededBytes === 0
            ? 'Make room'
            : `It takes about ${Math.ceil(neededBytes / BYTES_PER_MIB)} MiB more. Make room`;
        raise(
          'disk-full',
          `the state of another site cannot be written (${reason}). ${room}. It is tried again, later each time.`,
        );
      }
    },
  };
}
