/**
 * The wire: the memory binding through the gateway, a Correctable awaited at the client, beside a bare `ws` server that
 * sends the same frames back. Server and client of every contender are processes of their own.
 */
import { atLeast, atMost, estimate, reported, type Estimate } from '../harness/bars.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { rangesFigure } from '../harness/figure.ts';
import { interleave } from '../harness/interleave.ts';
import { ratiosOf } from '../load/rounds.ts';
import { rounded, spread, type Spread } from '../harness/statistics.ts';
import type { Mode } from './messages.ts';
import { startPair, type Measured, type Pair } from './processes.ts';

const MODES: readonly Mode[] = ['gateway', 'gateway-views', 'echo-plain', 'echo-cork', 'echo-array'];
const WINDOWS = [1, 64, 1024] as const;
/** The window that the aims are about. */
const AIMED = 64;
const AIMS = { 'echo-array': 0.5, 'echo-cork': 1.1, 'echo-plain': 1.5 } as const;
const VALIDATION_SHARE_MAX = 0.05;

export const wire: Bench = {
  name: 'wire',
  about: 'the memory binding through the gateway beside a bare websocket echo of the same frames',
  run,
};

type Samples = ReadonlyMap<string, Measured[]>;

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const rounds = quick ? 3 : 9;
  const durationMs = quick ? 200 : 500;
  progress('starting a server and a client for each contender');
  const pairs = new Map<Mode, Pair>();
  try {
    for (const mode of MODES) pairs.set(mode, await startPair(mode));
    const samples = new Map<number, Samples>();
    for (const window of WINDOWS) {
      const told = (text: string): void => progress(`window ${window}: ${text}`);
      samples.set(window, await measureWindow(pairs, window, { rounds, durationMs, progress: told }));
    }
    progress('share of validation in the server');
    const profile = await (pairs.get('gateway') as Pair).profile(AIMED, quick ? 500 : 3000);
    return outcomeOf(rounds, samples, profile.validationShare);
  } finally {
    for (const pair of pairs.values()) pair.stop();
  }
}

async function measureWindow(
  pairs: ReadonlyMap<Mode, Pair>,
  window: number,
  { rounds, durationMs, progress }: { rounds: number; durationMs: number; progress: (text: string) => void },
): Promise<Samples> {
  const warmUps = 2;
  const measured = new Map<string, Measured[]>(MODES.map((mode) => [mode, []]));
  const contenders = [...pairs].map(([mode, pair]) => ({
    name: mode,
    async measure() {
      const one = await pair.run(window, durationMs);
      measured.get(mode)?.push(one);
      return one.opsPerSecond;
    },
  }));
  await interleave(contenders, { rounds, warmUps, progress });
  for (const list of measured.values()) list.splice(0, warmUps);
  return measured;
}

function outcomeOf(rounds: number, samples: ReadonlyMap<number, Samples>, validationShare: number): Outcome {
  const rows = WINDOWS.flatMap((window) => MODES.map((mode) => rowOf(window, mode, samples.get(window) as Samples)));
  const aimed = samples.get(AIMED) as Samples;
  const ratio = (echo: Mode, window: Samples = aimed): Estimate => estimate(ratiosOf(window, 'gateway', echo));
  const bars = [
    ...(Object.keys(AIMS) as (keyof typeof AIMS)[]).map((echo) =>
      atLeast(`vs-${echo}-${AIMED}`, ratio(echo), { aim: AIMS[echo] }),
    ),
    atMost('validation-share', rounded(validationShare), { aim: VALIDATION_SHARE_MAX }, 'fraction'),
    ...[1, 1024].map((window) =>
      reported(`vs-echo-array-${window}`, ratio('echo-array', samples.get(window) as Samples)),
    ),
  ];
  const figures = { wire: plot(aimed) };
  return {
    rounds,
    rows,
    bars,
    samples: Object.fromEntries([...samples].map(([w, s]) => [w, Object.fromEntries(s)])),
    figures,
  };
}

function rowOf(window: number, contender: Mode, samples: Samples): Record<string, unknown> {
  const list = samples.get(contender) as Measured[];
  const ops = spread(list.map((one) => one.opsPerSecond));
  const us = (of: 'clientUsPerOp' | 'serverUsPerOp'): number => rounded(spread(list.map((one) => one[of])).median);
  return {
    window,
    contender,
    opsPerSecond: Math.round(ops.median),
    opsMin: Math.round(ops.min),
    opsMax: Math.round(ops.max),
    clientUsPerOp: us('clientUsPerOp'),
    serverUsPerOp: us('serverUsPerOp'),
  };
}

function plot(samples: Samples): string {
  const ranges = (Object.keys(AIMS) as (keyof typeof AIMS)[]).map((echo) => {
    const range: Spread = spread(ratiosOf(samples, 'gateway', echo).map(rounded));
    return { label: `gateway ÷ ${echo}`, ...range, aim: AIMS[echo] };
  });
  return rangesFigure(
    `Operations a second through the gateway, beside bare echoes of the same frames`,
    `ratio at window ${AIMED} (median and range of the rounds; red: the aim)`,
    ranges,
  );
}
