/** The state of a node, as operators and metrics read it. */
import {
  emitWarning,
  guardAlarmHandler,
  type OnAlarm,
  type SiteAlarm,
} from '../alarms/site-alarm.ts';
import type { MemberStatus, SiteProgress } from '../site/site-options.ts';
import type { NodeVersion } from './activate.ts';
import type { LinkStatus } from './cluster-links.ts';
import type { RedLogStatus } from './red-log/node-red-log.ts';
import type { TransferProgress } from './state-transfers.ts';

/** The kind of request by which a command asks for the status of a node. */
export const STATUS = 'status';

/** The state of a node, for operators. */
export interface NodeStatus {
  readonly site: string;
  /**
   * `waiting`: for other sites, before the first start. `transferring`: it
   * takes the state of another site. `joining`: it is a member, and other
   * members have not confirmed it. `sealed`: an operator restores the red log,
   * and no site has opened it yet. `stopped`: the site has failed.
   */
  readonly state:
    | 'waiting'
    | 'transferring'
    | 'joining'
    | 'serving'
    | 'sealed'
    | 'stopped';
  /** Why it has failed, or what it waits for. */
  readonly problem?: string | undefined;
  readonly members: readonly MemberStatus[];
  /**
   * The site that orders red operations, or `etcd`; `null` while the red log is
   * being restored.
   */
  readonly redLeader: string | null;
  /** How often the red log was restored at another site. */
  readonly redGeneration: number;
  /**
   * What red writes and strong reads wait for, if none can be ordered for now.
   */
  readonly redProblem?: string | undefined;
  /** The version that the node runs, and the one in force. */
  readonly version: NodeVersion;
  /** The engine of the red log, and its servers if it has any. */
  readonly redLog: RedLogStatus;
  readonly directory: string;
  readonly transfer?: TransferProgress | undefined;
  readonly progress?: SiteProgress | undefined;
  readonly links: readonly LinkStatus[];
  /** Alarms of the last hour, the oldest first. */
  readonly alarms: readonly RecentAlarm[];
}

/** Callbacks of a node. */
export interface NodeEvents<Node> {
  /**
   * The links are open, and the site does not run yet. No other site has got a
   * request of this one.
   */
  onOpening?(node: Node): Promise<void>;
  /** Before the first start: these sites have not answered yet. */
  onWaiting?(sites: readonly string[]): void;
  /**
   * Before the site can begin or go on: what it waits for, or how far the state
   * of another site has come.
   */
  onProgress?(message: string): void;
  /** The site runs: at the start, and each time that it was started again. */
  onStarted?(node: Node): Promise<void>;
  /**
   * The site is about to be stopped, and will be started again. Clients should
   * move to other sites.
   */
  onStopping?(node: Node): Promise<void>;
  /** The site has failed. Clients should move to other sites. */
  onFailed?(): void;
}

/** An alarm, and when it was raised in milliseconds since the epoch. */
export interface RecentAlarm {
  readonly atMs: number;
  readonly kind: SiteAlarm['kind'];
  readonly message: string;
}

/** What a node does, and why it does not serve. */
export interface NodeState {
  readonly state: NodeStatus['state'];
  readonly problem?: string | undefined;
}

/** What `describeState` needs to know about a site that may not run. */
export interface NodeSituation {
  readonly driver: { readonly failure?: Error | undefined } | undefined;
  readonly transfer: TransferProgress | undefined;
  /** What it waits for without an operator's help. */
  readonly waitingFor: string | undefined;
  /** Why its process has to be started again. */
  readonly cannotStart: string | undefined;
  /** Why it waits for an operator to open the red log. */
  readonly sealed: string | undefined;
}

/** Returns what a site does, and why it does not serve. */
export function describeState({
  driver,
  transfer,
  waitingFor,
  cannotStart,
  sealed,
}: NodeSituation): NodeState {
  if (driver?.failure !== undefined)
    return { state: 'stopped', problem: driver.failure.message };
  if (driver !== undefined)
    return {
      state: waitingFor === undefined ? 'serving' : 'joining',
      problem: waitingFor,
    };
  if (cannotStart !== undefined)
    return { state: 'stopped', problem: cannotStart };
  if (transfer !== undefined) return { state: 'transferring' };
  return sealed === undefined
    ? { state: 'waiting', problem: waitingFor }
    : { state: 'sealed', problem: sealed };
}

const ALARM_AGE_MS = 3_600_000;
const MAX_ALARMS = 100;

export class RecentAlarms {
  readonly #alarms: RecentAlarm[] = [];

  /**
   * Returns a handler that records each alarm before it calls `onAlarm`, the
   * handler of the application.
   */
  noteBefore(onAlarm: OnAlarm = emitWarning): OnAlarm {
    const guarded = guardAlarmHandler(onAlarm);
    return (alarm) => {
      this.add(alarm);
      return guarded(alarm);
    };
  }

  add({ kind, message }: SiteAlarm): void {
    this.#alarms.push({ atMs: Date.now(), kind, message });
    if (this.#alarms.length > MAX_ALARMS) this.#dropOne();
  }

  /**
   * Drops the oldest of the most frequent kind, so that many of one kind do not
   * hide another.
   */
  #dropOne(): void {
    const counts = new Map<string, number>();
    for (const { kind } of this.#alarms)
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const most = Math.max(...counts.values());
    this.#alarms.splice(
      this.#alarms.findIndex(({ kind }) => counts.get(kind) === most),
      1,
    );
  }

  list(): RecentAlarm[] {
    const fromMs = Date.now() - ALARM_AGE_MS;
    return this.#alarms.filter(({ atMs }) => atMs >= fromMs);
  }
}
