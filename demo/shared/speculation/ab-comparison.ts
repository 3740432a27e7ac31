/**
 * Compares the same operations with and without speculation, in alternating slices of time, so that
 * a slow period of the machine affects both.
 */
import { seeded } from '../random.ts';
import { WAYS, type Application, type Way } from './application.ts';
import { countedSpan } from './request-span.ts';
import { carryOut, type HistoryLine, type Timing } from './request.ts';
import { workloadOf, type Step, type Workload } from './workload.ts';

export interface AbComparisonOptions {
  readonly application: Application;
  readonly workload: Workload;
  /**
   * How long both contenders together are measured, without the time until all workers are active.
   */
  readonly seconds: number;
  /** Requests in flight at a time. */
  readonly workers: number;
  readonly seed: number;
  /** Pairs of slices that are run and thrown away first, so that the code is warm. Default 2. */
  readonly warmUpPairs?: number;
  /**
   * How long a slice is measured: short in comparison with slow periods of a machine. Default: 500
   */
  readonly sliceMs?: number | undefined;
  readonly progress?: (text: string) => void;
}

/** The work of one contender in one slice. */
export interface Slice {
  readonly way: Way;
  readonly timings: readonly Timing[];
  /** Fetches and changes carried out. */
  readonly operations: number;
  /** The sum of the times that its workers were busy, in milliseconds. */
  readonly busyMs: number;
  /** The operations that ended during the measurement, while all workers were active. */
  readonly counted: number;
  /** The duration of the measurement, in milliseconds. */
  readonly countedMs: number;
}

/**
 * A comparison. Slices come in pairs: a baseline and a speculating one with the same operations, in
 * either order.
 */
export interface AbComparison {
  readonly slices: readonly Slice[];
  readonly workers: number;
  readonly history: readonly HistoryLine[];
}

const SLICE_MS = 500;
const WARM_UP_PAIRS = 2;

/**
 * Runs a comparison.
 *
 * @throws the first failure of a request, once all workers have stopped
 */
export async function runAbComparison(options: AbComparisonOptions): Promise<AbComparison> {
  const {
    seconds,
    workers,
    warmUpPairs = WARM_UP_PAIRS,
    sliceMs = SLICE_MS,
    progress = () => {},
  } = options;
  const pairs = Math.max(1, Math.round((seconds * 1000) / (2 * sliceMs)));
  const durationMs = Math.min(sliceMs, (seconds * 1000) / 2);
  const steps = workloadOf(options.workload, options.application.users);
  const slices: Slice[] = [];
  const history: HistoryLine[] = [];
  const beganAt = performance.now();
  for (let pair = -warmUpPairs; pair < pairs; pair += 1) {
    const order = pair % 2 === 0 ? WAYS : WAYS.toReversed();
    for (const way of order) {
      const onLine = (line: Omit<HistoryLine, 'atMs'>): void => {
        if (pair >= 0) history.push({ ...line, atMs: round(performance.now() - beganAt) });
      };
      const slice = await runSlice({ ...options, steps, way, pair, durationMs, onLine });
      if (pair >= 0) slices.push(slice);
    }
    if (pair >= 0 && (pair + 1) % 5 === 0) progress(`${pair + 1} of ${pairs} pairs of slices`);
  }
  return { slices, workers, history };
}

interface SliceOptions extends AbComparisonOptions {
  readonly steps: (seed: number) => () => Step;
  readonly way: Way;
  readonly pair: number;
  readonly durationMs: number;
  readonly onLine: (line: Omit<HistoryLine, 'atMs'>) => void;
}

async function runSlice(options: SliceOptions): Promise<Slice> {
  const { application, steps, workers, way, pair, durationMs, onLine } = options;
  const timings: Timing[] = [];
  let [operations, busyMs] = [0, 0];
  const span = countedSpan(workers, durationMs);
  const work = async (worker: number): Promise<void> => {
    // Both contenders of a pair get the same sequence.
    const seed = options.seed + (pair * workers + worker) * 7919;
    const [next, random] = [steps(seed), seeded(seed + 1)];
    const beganAt = performance.now();
    for (let n = 0; performance.now() < span.endsAt(); n += 1) {
      const { kind, user } = next();
      if (kind === 'change') await application.change(user, random);
      else {
        const request = `${way}-${pair}-${worker}-${n}`;
        timings.push(await carryOut({ application, way, user, request, onLine }));
      }
      operations += 1;
      span.ended(performance.now(), n === 0);
    }
    busyMs += performance.now() - beganAt;
  };
  const workOrStop = (worker: number): Promise<void> =>
    work(worker).catch((failure: unknown) => {
      span.stop();
      throw failure;
    });
  const outcomes = await Promise.allSettled(
    Array.from({ length: workers }, (_, worker) => workOrStop(worker)),
  );
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return { way, timings, operations, busyMs, counted: span.counted(), countedMs: durationMs };
}

/** Rounds to microseconds, which are exact enough. */
function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
