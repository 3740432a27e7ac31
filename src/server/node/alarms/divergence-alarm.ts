/** Counts comparisons of rows with other sites, and reports rows that differ. */
import type { Origins } from '../../service/records/origin.ts';
import type { ComparedRows } from '../../site/core/site-core.ts';
import { shortenText, type OnAlarm } from './site-alarm.ts';

/** The maximum of reported rows that are remembered. Each is reported once for a site. */
const MAX_REPORTED_ROWS = 1000;

/** How many rows a message names, and how much of each key. */
const MAX_NAMED_ROWS = 10;
const MAX_KEY_TEXT = 100;

/** What a site counts of its comparisons with all others, since it has started. */
export interface ComparisonFigures {
  /** The number of rows that were compared. A row counts each time. */
  readonly rows: number;
  /** How often all rows were compared with those of another site. */
  readonly passes: number;
  /** The number of rows that were found to differ from those of another site, each once. */
  readonly diverged: number;
}

const ADVICE =
  'The site that the alarms of all others name is wrong: take it out of service and rebuild it. Nothing is repaired by itself.';

export class DivergenceAlarm {
  readonly #site: string;
  readonly #origins: Origins;
  readonly #onAlarm: OnAlarm;
  readonly #reported = new Set<string>();
  #rows = 0;
  #passes = 0;

  constructor(site: string, origins: Origins, onAlarm: OnAlarm) {
    this.#site = site;
    this.#origins = origins;
    this.#onAlarm = onAlarm;
  }

  get figures(): ComparisonFigures {
    return { rows: this.#rows, passes: this.#passes, diverged: this.#reported.size };
  }

  readonly onRowsCompared = ({ peer, table, rows, differing, isLast }: ComparedRows): void => {
    this.#rows += rows;
    if (isLast) this.#passes += 1;
    const added = differing.filter((key) => this.#note([peer, table, key].join('\n')));
    if (added.length === 0) return;
    const other = this.#origins.getName(peer);
    const found = `rows of table ${table} are not those of ${other}, though both sites have applied the same operations: ${formatKeys(added)}`;
    const message = `Site ${this.#site}: ${found}. ${ADVICE}`;
    this.#onAlarm({ kind: 'sites-diverged', site: this.#site, peer: other, message });
  };

  /** Returns whether the row was not reported yet. */
  #note(name: string): boolean {
    if (this.#reported.has(name) || this.#reported.size >= MAX_REPORTED_ROWS) return false;
    this.#reported.add(name);
    return true;
  }
}

function formatKeys(keys: readonly string[]): string {
  const named = keys.slice(0, MAX_NAMED_ROWS).map((key) => `'${shortenText(key, MAX_KEY_TEXT)}'`);
  if (keys.length > named.length) named.push(`${keys.length - named.length} more`);
  return named.join(', ');
}
