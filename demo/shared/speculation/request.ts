/** One request with its history and its timing. */
import type { Application, Watch, Way } from './application.ts';

/** One line of a run's history. */
export interface HistoryLine {
  readonly request: string;
  readonly user: string;
  readonly kind: 'preliminary' | 'final' | 'delivered';
  /** The references of the view, or of what was delivered. */
  readonly ads: readonly string[];
  /** Milliseconds since the run began. */
  readonly atMs: number;
}

/** The times of one request, in milliseconds from the call. */
export interface Timing {
  readonly way: Way;
  readonly preliminaryMs: number | undefined;
  readonly finalMs: number;
  readonly deliveredMs: number;
  /**
   * How often fetching the referenced things was begun: more than once if a speculation was wrong.
   */
  readonly runs: number;
}

export interface RequestOptions {
  readonly application: Application;
  readonly way: Way;
  readonly user: number;
  /** Names the request in the history. */
  readonly request: string;
  readonly onLine: (line: Omit<HistoryLine, 'atMs'>) => void;
}

/**
 * Executes one request.
 *
 * @throws the failure of the request
 */
export async function carryOut(options: RequestOptions): Promise<Timing> {
  const { application, way, user, request, onLine } = options;
  const beganAt = performance.now();
  const passedMs = (): number => performance.now() - beganAt;
  let [preliminaryMs, finalMs, deliveredMs]: (number | undefined)[] = [];
  let runs = 0;
  const line = (kind: HistoryLine['kind'], ads: readonly string[]): void =>
    onLine({ request, user: String(user), kind, ads });
  const watch: Watch = {
    references(ids, final) {
      if (final) finalMs = passedMs();
      else preliminaryMs ??= passedMs();
      line(final ? 'final' : 'preliminary', ids);
    },
    fetching() {
      runs += 1;
    },
    delivered(ids) {
      deliveredMs = passedMs();
      line('delivered', ids);
    },
  };
  await application.fetch(user, way, watch);
  if (finalMs === undefined || deliveredMs === undefined)
    throw new Error(`${request} ended without being delivered`);
  return { way, preliminaryMs, finalMs, deliveredMs, runs };
}
