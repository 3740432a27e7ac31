/** A disk that loses what was not synced when its site crashes. */
import type { LocalEntry, RedRecord } from '../../server/redblue/records.ts';
import type { LogEntry } from '../../server/log/log.ts';
import type { StoredEntries } from '../../server/redblue/site-machine.ts';
import type { Random } from './random.ts';
import type { Timeline } from './timeline.ts';

type LogName = keyof StoredEntries;

/** The logs of one site, over its restarts. */
export class LossyDisk {
  readonly #entries: { readonly local: LocalEntry[]; readonly red: LogEntry<RedRecord>[] } = { local: [], red: [] };
  readonly #synced: Record<LogName, number> = { local: 0, red: 0 };
  /** Counts crashes: a sync that was under way when one happened never ends. */
  #generation = 0;
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #syncMeanMs: number;
  readonly #onSynced: (log: LogName, length: number) => void;

  constructor(
    timeline: Timeline,
    random: Random,
    options: { readonly syncMeanMs: number; readonly onSynced: (log: LogName, length: number) => void },
  ) {
    this.#timeline = timeline;
    this.#random = random;
    this.#syncMeanMs = options.syncMeanMs;
    this.#onSynced = options.onSynced;
  }

  append(log: LogName, entries: readonly unknown[]): void {
    (this.#entries[log] as unknown[]).push(...entries);
    const length = this.#entries[log].length;
    const generation = this.#generation;
    this.#timeline.after(this.#random.exponential(this.#syncMeanMs), () => {
      if (generation === this.#generation) this.synced(log, length);
    });
    this.written(log, length);
  }

  /** Loses what is not synced and gives what is left. */
  crash(): StoredEntries {
    this.#generation += 1;
    for (const log of ['local', 'red'] as const) this.#entries[log].length = this.#synced[log];
    return { local: [...this.#entries.local], red: [...this.#entries.red] };
  }

  /** Something was written, and is not synced. */
  protected written(_log: LogName, _length: number): void {}

  protected synced(log: LogName, length: number): void {
    if (length <= this.#synced[log]) return;
    this.#synced[log] = length;
    this.tell(log, length);
  }

  protected tell(log: LogName, length: number): void {
    this.#onSynced(log, length);
  }
}
