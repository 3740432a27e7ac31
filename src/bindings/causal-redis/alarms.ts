/** The alarms of a causal store on Redis: what an operator must know. */
import { isThenable } from '../../correctable/validate.ts';
import type { Clock, Timer } from '../../correctable/clock.ts';

export interface CausalRedisAlarm {
  /**
   * - `lost-writes`: partitions have lost acknowledged writes that no other site had.
   * - `causal-history`: another site has sent a write that is older than it had promised to send.
   *   So a snapshot may lack a write that it depends on.
   * - `dropped-entries`: another site was away for so long that it must copy whole partitions.
   * - `clock`: the clocks of partitions, here or at another site, are too far off. These partitions
   *   are not used.
   * - `eviction`: Redis may drop partitions when its memory is full.
   * - `persistence`: a failure of a server loses writes.
   * - `version`: a server is too old.
   * - `unchecked`: this user has no right to read the settings of Redis, so they were not checked.
   * - `deployment`: the deployment record of a site is missing.
   * - `access-refused`: Redis refuses the password or the rights of this process, or this process
   *   refuses the certificate of Redis.
   */
  readonly code:
    | 'lost-writes'
    | 'causal-history'
    | 'dropped-entries'
    | 'clock'
    | 'eviction'
    | 'persistence'
    | 'version'
    | 'unchecked'
    | 'deployment'
    | 'access-refused';
  /** The site of the process that reports it. */
  readonly site: string;
  readonly message: string;
  /** The partitions that the alarm concerns, if any. */
  readonly partitions: readonly number[];
}

export type OnAlarm = (alarm: CausalRedisAlarm) => unknown;

/**
 * How long alarms are collected before they are reported together. One failure usually concerns
 * many partitions.
 */
const COLLECT_MS = 200;
/** A problem that persists is reported again after this time. */
const REPEAT_MS = 60_000;

const MESSAGES: Readonly<Record<string, string>> = {
  'lost-writes':
    'acknowledged writes are lost, since no other site had them. They came in the last moments before a failover or a restart of Redis.',
  'causal-history':
    'another site has sent a write below its promise. Reads of this site may have seen its effects without it. Please report this.',
  'dropped-entries':
    'another site has not fetched the writes of this one for so long that it must copy whole partitions.',
  clock:
    'clocks differ by more than 500 ms, here or at another site. These partitions are refused until the clocks agree: check NTP on the machines of Redis.',
};

export class Alarms {
  readonly #site: string;
  readonly #clock: Clock;
  readonly #onAlarm: OnAlarm;
  readonly #collected = new Map<string, Set<number>>();
  /** When an alarm was last reported, by its text. */
  readonly #reportedAtMs = new Map<string, number>();
  #timer: Timer | undefined;

  constructor(site: string, clock: Clock, onAlarm: OnAlarm = emitWarning) {
    this.#site = site;
    this.#clock = clock;
    this.#onAlarm = onAlarm;
  }

  /** Reports a failure of a partition, together with others of its kind. */
  notePartition(code: CausalRedisAlarm['code'], partition: number): void {
    if (this.#isRepeated(`${code} ${partition}`)) return;
    const partitions = this.#collected.get(code) ?? new Set();
    this.#collected.set(code, partitions.add(partition));
    this.#timer ??= this.#clock.setTimer(() => this.flush(), COLLECT_MS);
  }

  /** Reports an alarm that does not concern single partitions. */
  report(code: CausalRedisAlarm['code'], message: string): void {
    if (!this.#isRepeated(message)) this.#raise(code, message, []);
  }

  /** Reports the collected alarms at once. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const [code, partitions] of this.#collected) {
      const list = [...partitions].toSorted((a, b) => a - b);
      const text = MESSAGES[code] ?? code;
      this.#raise(code as CausalRedisAlarm['code'], text, list);
    }
    this.#collected.clear();
  }

  #isRepeated(text: string): boolean {
    const now = this.#clock.now();
    const at = this.#reportedAtMs.get(text) ?? -Infinity;
    if (now - at < REPEAT_MS) return true;
    this.#reportedAtMs.set(text, now);
    return false;
  }

  #raise(code: CausalRedisAlarm['code'], text: string, partitions: readonly number[]): void {
    const place = partitions.length === 0 ? '' : formatPartitions(partitions);
    const message = `Site ${this.#site}${place}: ${text}`;
    const alarm = { code, site: this.#site, message, partitions };
    try {
      const value = this.#onAlarm(alarm);
      if (isThenable(value)) value.then(undefined, () => emitWarning(alarm));
    } catch {
      emitWarning(alarm);
    }
  }
}

const MAX_NAMED_PARTITIONS = 8;

function formatPartitions(partitions: readonly number[]): string {
  const named = partitions.slice(0, MAX_NAMED_PARTITIONS).join(', ');
  const more = partitions.length - MAX_NAMED_PARTITIONS;
  const rest = more > 0 ? ` and ${more} more` : '';
  return `, partition${partitions.length === 1 ? '' : 's'} ${named}${rest}`;
}

function emitWarning({ message, code }: CausalRedisAlarm): void {
  process.emitWarning(message, { code });
}
