/**
 * Latency at equal offered load: requests begin at a fixed rate, and each latency counts from when
 * its request should have begun. In a closed loop, a faster system gets more requests, and requests
 * that a stall delays are not counted.
 */
import { carryOut, type HistoryLine } from '../../demo/shared/speculation/request.ts';
import { count } from '../../demo/shared/speculation/report.ts';
import { seeded } from '../../demo/shared/random.ts';
import { WAYS, type Application, type Way } from '../../demo/shared/speculation/application.ts';
import { workloadOf, type Step, type Workload } from '../../demo/shared/speculation/workload.ts';
import { openLoop } from '../load/loops.ts';

/** Latencies of requests, from the time at which they should have begun until their delivery. */
export interface Latency {
  readonly avgMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Both contenders at the same rate, in one round. */
export interface OpenLoopResult extends Readonly<Record<Way, Latency>> {
  /** The rate, as a share of that which the slower contender reaches at its peak. */
  readonly share: number;
  readonly perSecond: number;
  readonly wrongDeliveries: number;
}

export interface OpenLoopOptions {
  readonly application: Application;
  readonly workload: Workload;
  readonly share: number;
  readonly perSecond: number;
  /** How long requests are sent to each contender. */
  readonly durationMs: number;
  readonly seed: number;
  /** Which contender begins. */
  readonly first: Way;
  readonly onLine: (line: Omit<HistoryLine, 'atMs'>) => void;
}

/**
 * The maximum number of requests in flight. A request that cannot begin waits, and its wait counts.
 */
const WINDOW = 4096;
/**
 * How often the loop looks for requests that are due. A busy loop would take a processor from the
 * servers.
 */
const LOOK_EVERY_MS = 1;

/** @throws the first failure of a request */
export async function runOpenLoop(options: OpenLoopOptions): Promise<OpenLoopResult> {
  const { share, perSecond, first } = options;
  const history: HistoryLine[] = [];
  const measured: Partial<Record<Way, Latency>> = {};
  for (const way of first === 'baseline' ? WAYS : WAYS.toReversed()) {
    measured[way] = latencyOf(await offerOne(options, way, history));
  }
  const { wrongDeliveries } = count(history);
  return { share, perSecond, wrongDeliveries, ...(measured as Record<Way, Latency>) };
}

async function offerOne(
  options: OpenLoopOptions,
  way: Way,
  history: HistoryLine[],
): Promise<readonly number[]> {
  const { application, workload, perSecond, durationMs, seed, onLine } = options;
  // Both contenders get the same sequence.
  const [next, random] = [workloadOf(workload, application.users)(seed), seeded(seed + 1)];
  const total = Math.max(1, Math.floor((perSecond * durationMs) / 1000));
  const steps = Array.from({ length: total }, next);
  const kindOf = (n: number): Step['kind'] => (steps[n] as Step).kind;
  const keep = (line: Omit<HistoryLine, 'atMs'>): void => {
    history.push({ ...line, atMs: 0 });
    onLine(line);
  };
  const submit = (n: number): PromiseLike<unknown> => {
    const { kind, user } = steps[n] as Step;
    if (kind === 'change') return application.change(user, random);
    return carryOut({
      application,
      way,
      user,
      request: `${way}-${perSecond}-${seed}-${n}`,
      onLine: keep,
    });
  };
  const { latenciesMs } = await openLoop(submit, {
    perSecond,
    window: WINDOW,
    durationMs,
    counts: (n) => kindOf(n) === 'fetch',
    soon: (run) => void setTimeout(run, LOOK_EVERY_MS),
  });
  return latenciesMs;
}

function latencyOf(latenciesMs: readonly number[]): Latency {
  if (latenciesMs.length === 0) throw new RangeError('no requests: offer more, or for longer');
  const sorted = [...latenciesMs].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] as number;
  const avgMs = sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length;
  return { avgMs, p50Ms: at(0.5), p99Ms: at(0.99) };
}
