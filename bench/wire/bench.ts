/**
 * Measures the wire: the memory binding through the gateway, with a Correctable that the client
 * awaits. The baseline is a bare `ws` server, with as many bytes in each direction as the gateway's
 * client sends and receives, with one view or with both. Server and client of every contender are
 * separate processes. `--beside DIR` measures the gateway and the client of another checkout in the
 * same rounds.
 */
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { checkCheckout, describeCheckout } from '../harness/checkouts.ts';
import { versionsOf } from '../harness/provenance.ts';
import { rounded, spread } from '../harness/statistics.ts';
import { AIMED, computeGoalResults, MODES, OTHERS, WINDOWS, type Samples } from './goals.ts';
import type { Name } from './messages.ts';
import { VALIDATION } from './profile.ts';
import { startPair, type Measured, type Pair } from './processes.ts';
import { measureWindow } from './window.ts';

export const wire: Bench = {
  name: 'wire',
  about: 'the memory binding through the gateway beside a bare websocket echo of as many bytes',
  takes: ['beside'],
  run,
};

async function run({ quick, beside, progress }: Settings): Promise<Outcome> {
  if (beside !== undefined) checkCheckout(beside);
  const rounds = quick ? 3 : 12;
  const durationMs = quick ? 200 : 400;
  progress('starting a server and a client for each contender');
  const pairs = new Map<Name, Pair>();
  try {
    for (const mode of MODES) pairs.set(mode, await startPair(mode));
    for (const mode of beside === undefined ? [] : OTHERS)
      pairs.set(`other ${mode}`, await startPair(mode, beside));
    const samples = new Map<number, Samples>();
    for (const window of WINDOWS) {
      const reported = (text: string): void => progress(`window ${window}: ${text}`);
      samples.set(
        window,
        await measureWindow(pairs, window, {
          rounds,
          roundsMax: quick ? 3 : 24,
          durationMs,
          progress: reported,
        }),
      );
    }
    progress('share of validation in the server');
    const profile = await (pairs.get('gateway') as Pair).profile(AIMED, quick ? 500 : 3000);
    if (profile.validationShare === null)
      progress(`no sample in ${VALIDATION}: its share is not reported`);
    const outcome = outcomeOf(samples, profile.validationShare);
    return { ...outcome, versions: { ...outcome.versions, ...describeCheckout(beside) } };
  } finally {
    for (const pair of pairs.values()) pair.stop();
  }
}

function outcomeOf(samples: ReadonlyMap<number, Samples>, validationShare: number | null): Outcome {
  const aimed = samples.get(AIMED) as Samples;
  return {
    rounds: aimed.get('gateway')?.length ?? 0,
    rows: [...samples].flatMap(([window, of]) =>
      [...of.keys()].map((name) => rowOf(window, name, of)),
    ),
    bars: computeGoalResults(samples, validationShare),
    samples: Object.fromEntries([...samples].map(([w, s]) => [w, Object.fromEntries(s)])),
    versions: versionsOf('ws', 'msgpackr'),
  };
}

function rowOf(window: number, contender: Name, samples: Samples): Record<string, unknown> {
  const list = samples.get(contender) ?? [];
  const ops = spread(list.map((item) => item.opsPerSecond));
  const middle = (of: Exclude<keyof Measured, 'opsPerSecond'>): number =>
    rounded(spread(list.map((item) => item[of])).median);
  return {
    window,
    contender,
    opsPerSecond: Math.round(ops.median),
    opsMin: Math.round(ops.min),
    opsMax: Math.round(ops.max),
    clientUsPerOp: middle('clientUsPerOp'),
    serverUsPerOp: middle('serverUsPerOp'),
    bytesSentPerOp: middle('bytesSentPerOp'),
    bytesReceivedPerOp: middle('bytesReceivedPerOp'),
  };
}
