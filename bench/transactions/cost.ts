/**
 * Measures transfers at one site by each way, interleaved, with enough in flight to saturate the
 * site.
 */
import { answer, ask, ended, startChild } from '../harness/children.ts';
import type { Target } from '../load/messages.ts';
import { contestantOf, serverFlags, type Contestant } from '../load/processes.ts';
import { measureStarts, QUICK, STARTS, type Extent } from '../load/restart-rounds.ts';
import type { Samples } from '../load/rounds.ts';
import { isUndecided } from '../harness/goals.ts';
import { computeCostGoals } from './goals.ts';
import { WAYS, type Way } from './messages.ts';

const WINDOW = 64;
/** A transaction runs more code than the other ways, and V8 compiles it late. */
const FULL: Extent = { ...STARTS, rounds: 2, warmUps: 8 };

const TARGETS = Object.fromEntries(WAYS.map((way) => [way, { kind: 'transfer', way }])) as Readonly<
  Record<Way, Target>
>;

interface CostSettings {
  readonly quick: boolean;
  readonly progress: (text: string) => void;
}

/** Returns the samples of each way, over all starts. */
export async function measureCost({ quick, progress }: CostSettings): Promise<Samples<Way>> {
  const order = { workload: 'transfer', window: WINDOW, durationMs: quick ? 300 : 500 } as const;
  const isDecided = ([soFar]: readonly Samples<Way>[]): boolean =>
    soFar !== undefined && !computeCostGoals(soFar).some(isUndecided);
  const extent = quick ? QUICK : FULL;
  const [samples] = await measureStarts(TARGETS, [{ ...order, names: WAYS }], {
    ...extent,
    warmUp: order,
    isDecided,
    startOne,
    progress,
  });
  return samples as Samples<Way>;
}

async function startOne(target: Target): Promise<Contestant> {
  if (target.kind !== 'transfer') throw new Error(`no transfers by ${target.kind}`);
  const server = startChild(
    new URL('server.ts', import.meta.url),
    [target.way, '1'],
    serverFlags(),
  );
  const { url } = await answer<{ url: string }>(server);
  const client = startChild(new URL('client.ts', import.meta.url), [url, target.way]);
  await answer(client);
  const asked = {
    ask: <T>(order: object | string) => ask<T>(client, order),
    ended: () => ended(client),
  };
  return contestantOf({ pid: server.pid as number, stop: () => ended(server) }, [asked]);
}
