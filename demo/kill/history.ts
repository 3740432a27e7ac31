/**
 * The history of all operations, as clients saw them. Anyone can compute the figures again from it.
 */

/** One line. */
export interface HistoryLine {
  readonly operation: string;
  /**
   * `sent` by a client, `acknowledged` to it, or `found`: looked for at a site after the last
   * restart.
   */
  readonly kind: 'sent' | 'acknowledged' | 'found';
  /** How often the operation had taken effect. Only for `found`. */
  readonly times?: number;
  /** The site at which it was looked for. Only for `found`. */
  readonly site?: string;
  /** Milliseconds since the start. */
  readonly atMs: number;
}

/** The figures that a history proves. */
export interface Figures {
  readonly acknowledged: number;
  /** Acknowledged operations that some site lacks. */
  readonly lost: number;
  /** Operations, acknowledged or not, that took effect more than once at some site. */
  readonly repeated: number;
}

/** Computes the figures from the history alone. */
export function figuresOf(history: Iterable<HistoryLine>): Figures {
  const acknowledged = new Set<string>();
  const found = new Map<string, number[]>();
  for (const { operation, kind, times = 0 } of history) {
    if (kind === 'acknowledged') acknowledged.add(operation);
    if (kind === 'found') found.set(operation, [...(found.get(operation) ?? []), times]);
  }
  const isLost = (operation: string): boolean =>
    (found.get(operation) ?? [0]).some((times) => times === 0);
  return {
    acknowledged: acknowledged.size,
    lost: [...acknowledged].filter(isLost).length,
    repeated: [...found.values()].filter((counts) => counts.some((times) => times > 1)).length,
  };
}

/** Reads the lines of a history file. */
export function parseHistory(text: string): HistoryLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as HistoryLine);
}
