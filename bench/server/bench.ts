/**
 * Compares the whole server with Redis. Client processes await a Correctable for the server, and a
 * promise of ioredis with auto-pipelining for Redis, with the same values of 16 bytes. There are
 * closed loops with several numbers of operations in flight, with one client process and with
 * several. There are also open loops at shares of the rate that both can sustain, whose latencies
 * count from the time at which an operation was due. The sites run with the defaults of
 * `correctables serve`, and also as docs/operate/run-a-server.md recommends for machines with spare
 * processors. `--beside DIR` measures sites of another checkout in the same rounds.
 */
import { checkCheckout, describeCheckout } from '../harness/checkouts.ts';
import { isUndecided } from '../harness/goals.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { versionsOf } from '../harness/provenance.ts';
import type { Target } from '../load/messages.ts';
import { serverFlags } from '../load/processes.ts';
import { redisVersion } from '../../engines/redis/single-server.ts';
import { rowOf, type Samples } from '../load/rounds.ts';
import { measureStarts, QUICK, STARTS, type Extent, type Plan } from '../load/restart-rounds.ts';
import { computeGoalResults } from './goals.ts';
import { openPlansOf, samplesOf, type Measurement } from './measurement.ts';
import {
  CLIENTS,
  NAMED,
  OPEN_WINDOW,
  PAIRED,
  PAIRS,
  RED,
  TARGETS,
  targetsIn,
  WINDOWS,
  type Name,
} from './targets.ts';

/**
 * The warm-up uses the largest window: it takes about a hundred thousand operations, and a run at
 * window 1 has a thousand.
 */
const FULL: Extent = { ...STARTS, rounds: 2, warmUps: 6 };
export const server: Bench = {
  name: 'server',
  about:
    'the whole server, ephemeral and durable, beside Redis through ioredis with auto-pipelining',
  takes: ['beside'],
  run,
};

async function run({ quick, beside, progress }: Settings): Promise<Outcome> {
  if (beside !== undefined) checkCheckout(beside);
  const extent = quick ? QUICK : FULL;
  const durationMs = quick ? 250 : 600;
  const names = Object.keys(TARGETS) as Name[];
  const others = targetsIn(beside);
  const otherNames = Object.keys(others) as Name[];
  const targets = { ...TARGETS, ...others } as Readonly<Record<Name, Target>>;
  const warmUp = { workload: 'set', window: Math.max(...WINDOWS), durationMs } as const;
  const measure = async (
    plans: readonly Plan<Name>[],
    isEnough: (soFar: readonly Measurement[]) => boolean = () => true,
  ): Promise<Measurement[]> => {
    const measured = (samples: readonly Samples<Name>[]): Measurement[] =>
      plans.map((plan, index) => ({ plan, samples: samples[index] as Samples<Name> }));
    const isDecided = (soFar: readonly Samples<Name>[]): boolean => isEnough(measured(soFar));
    return measured(
      await measureStarts(targets, plans, { ...extent, warmUp, isDecided, progress }),
    );
  };
  const set = { workload: 'set', durationMs } as const;
  // Only closed loops have goals.
  const closed = await measure(
    [
      ...WINDOWS.map((window) => ({
        ...set,
        window,
        names: window === NAMED ? [...names, ...otherNames] : names,
      })),
      ...CLIENTS.map((clients) => ({ ...set, window: NAMED, clients, names: PAIRED })),
      { workload: 'withdraw', window: NAMED, durationMs, names: [...RED, ...otherNames] },
    ],
    (soFar) => !computeGoalResults(soFar, []).some(isUndecided),
  );
  const peaks = samplesOf(closed, { workload: 'set', window: Math.max(...WINDOWS) });
  const open: Measurement[][] = [];
  for (const pair of PAIRS) {
    open.push(await measure(openPlansOf(peaks, pair, { ...set, window: OPEN_WINDOW })));
  }
  const all = [...closed, ...open.flat()];
  return {
    rounds: peaks.get('redis')?.length ?? 0,
    rows: all.flatMap(rowsOf),
    bars: computeGoalResults(closed, open),
    samples: all.map(({ plan, samples }) => ({ ...plan, samples: Object.fromEntries(samples) })),
    versions: {
      redis: await redisVersion(),
      ...versionsOf('ioredis', 'ws'),
      ...describeCheckout(beside),
    },
    flags: serverFlags(),
  };
}

function rowsOf({ plan, samples }: Measurement): Record<string, unknown>[] {
  const { workload, window, clients = 1, perSecond = null } = plan;
  return [...samples].map(([contender, list]) => ({
    workload,
    window,
    clients,
    perSecond,
    contender,
    ...rowOf(list),
  }));
}
