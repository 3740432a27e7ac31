/** The state of a node, as operators and metrics read it. */
import {
  emitWarning,
  guardAlarmHandler,
  type OnAlarm,
  type SiteAlarm,
} from '../alarms/site-alarm.ts';
import type { Origins } from '../../service/records/origin.ts';
import type { MemoryStatus } from '../../site/core/memory-port.ts';
import type { MemberStatus, SiteProgress } from '../../site/site-options.ts';
import type { NodeVersion } from './activate.ts';
import type { LinkStatus } from '../links/cluster-links.ts';
import type { RedLogStatus } from '../red-log/node-red-log.ts';
import { getLogs, type RedGeneration } from '../red-log/red-generation.ts';
import type { TransferProgress } from '../transfer/state-transfers.ts';

/** The kind of request by which a command asks for the status of a node. */
export const STATUS = 'status';

/** One of several red logs, as a site knows it. */
export interface RedLogState {
  /** The name of the partition. */
  readonly name: string;
  /** The site that orders its records; `null` while the logs are restored. */
  readonly leader: string | null;
  /** The reason if its red writes and strong reads have to wait. */
  readonly problem?: string | undefined;
}

/** The state of a node, for operators. */
export interface NodeStatus {
  readonly site: string;
  /**
   * `waiting`: the site waits for other sites before its first start. `transferring`: it receives
   * the state of another site. `joining`: it is a member, and other members have not confirmed it
   * yet. `sealed`: an operator restores the red log, and it has not been opened yet. `stopped`: the
   * site has failed.
   */
  readonly state: 'waiting' | 'transferring' | 'joining' | 'serving' | 'sealed' | 'stopped';
  /**
   * The reason why it has failed, or has to wait. A site that serves has one if no other site
   * accepts its connections.
   */
  readonly problem?: string | undefined;
  readonly members: readonly MemberStatus[];
  /** The site that orders red operations, or `etcd`; `null` while the red log is being restored. */
  readonly redLeader: string | null;
  /** How often the red log was restored at another site. */
  readonly redGeneration: number;
  /**
   * The reason if red writes and strong reads have to wait, because none can be ordered for now.
   */
  readonly redProblem?: string | undefined;
  /** Each red log, that of `main` first. Present only if there are several. */
  readonly redLogs?: readonly RedLogState[] | undefined;
  /** The version that the node runs, and the active version. */
  readonly version: NodeVersion;
  /** The engine of the red log, and its servers if it has any. */
  readonly redLog: RedLogStatus;
  readonly directory: string;
  readonly transfer?: TransferProgress | undefined;
  readonly progress?: SiteProgress | undefined;
  /** The memory that the site has used. */
  readonly memory?: MemoryStatus | undefined;
  readonly links: readonly LinkStatus[];
  /** Alarms of the last hour, the oldest first. */
  readonly alarms: readonly RecentAlarm[];
}

/** Callbacks of a node. */
export interface NodeEvents<Node> {
  /**
   * Called when the links are open, and the site does not run yet. This node has not sent a request
   * to any other site yet.
   */
  onOpening?(node: Node): Promise<void>;
  /** Called before the first start, with the sites that have not answered yet. */
  onWaiting?(sites: readonly string[]): void;
  /**
   * Called while the site has to wait, with the reason or with the progress of a state transfer.
   */
  onProgress?(message: string): void;
  /** Called when the site runs: at the start, and after each restart of the site. */
  onStarted?(node: Node): Promise<void>;
  /** Called before the site is stopped and started again. Clients should move to other sites. */
  onStopping?(node: Node): Promise<void>;
  /** Called when the site has failed. Clients should move to other sites. */
  onFailed?(): void;
}

/** An alarm, and when it was raised in milliseconds since the epoch. */
export interface RecentAlarm {
  readonly atMs: number;
  readonly kind: SiteAlarm['kind'];
  readonly message: string;
}

/** The state of a node, and the reason if it does not serve clients. */
export interface NodeState {
  readonly state: NodeStatus['state'];
  readonly problem?: string | undefined;
}

/** What `describeState` needs to know about a site that may not run. */
export interface NodeSituation {
  readonly driver: { readonly failure?: Error | undefined } | undefined;
  readonly transfer: TransferProgress | undefined;
  /** The reason of a wait that ends without an operator. */
  readonly waitingFor: string | undefined;
  /** The reason if all other sites that can be reached refuse it. */
  readonly refusal: string | undefined;
  /** The reason if its process has to be started again. */
  readonly cannotStart: string | undefined;
  /** The reason if it waits for an operator to open the red log. */
  readonly sealed: string | undefined;
}

/** Returns the state of a site, and the reason if it does not serve clients. */
export function describeState({
  driver,
  transfer,
  waitingFor,
  refusal,
  cannotStart,
  sealed,
}: NodeSituation): NodeState {
  if (driver?.failure !== undefined) return { state: 'stopped', problem: driver.failure.message };
  if (driver !== undefined)
    return {
      state: waitingFor === undefined ? 'serving' : 'joining',
      problem: waitingFor ?? refusal,
    };
  if (cannotStart !== undefined) return { state: 'stopped', problem: cannotStart };
  if (transfer !== undefined) return { state: 'transferring' };
  return sealed === undefined
    ? { state: 'waiting', problem: waitingFor }
    : { state: 'sealed', problem: sealed };
}

/**
 * Describes the red logs of a generation; `undefined` if there is one only.
 *
 * @param names the names of all partitions, by their ordinals
 * @param problems what the red operations of each log wait for
 */
export function describeRedLogs(
  red: RedGeneration,
  names: readonly string[],
  problems: readonly (string | undefined)[] = [],
): readonly RedLogState[] | undefined {
  if (names.length === 1) return undefined;
  const logs = getLogs(red);
  return names.map((name, partition) => ({
    name,
    leader: logs[partition]?.leader ?? null,
    problem: problems[partition],
  }));
}

/** Lists the members as a site knows them that does not run. */
export function listOrigins(origins: Origins): readonly MemberStatus[] {
  return origins.sites.map((origin) => ({ ...origins.get(origin), origin }));
}

const ALARM_AGE_MS = 3_600_000;
const MAX_ALARMS = 100;

export class RecentAlarms {
  readonly #alarms: RecentAlarm[] = [];

  /**
   * Returns a handler that records each alarm before it calls `onAlarm`, the handler of the
   * application.
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
   * Drops the oldest alarm of the most frequent kind, so that many alarms of one kind do not
   * displace those of other kinds.
   */
  #dropOne(): void {
    const counts = new Map<string, number>();
    for (const { kind } of this.#alarms) counts.set(kind, (counts.get(kind) ?? 0) + 1);
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
