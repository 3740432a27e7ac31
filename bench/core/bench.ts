/** What a Correctable costs beside a Promise and beside RxJS, through the published build. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { atMost, reported, type Bench, type Outcome, type Settings } from '../harness/bench.ts';
import { rangesFigure } from '../harness/figure.ts';
import { interleave, type Contender } from '../harness/interleave.ts';
import { median, pairedRatios, rounded, spread } from '../harness/statistics.ts';
import { awaited, callbacks, drive, invokeMemory, promise, rxjs, speculateHit, valuesOf } from './contenders.ts';

const AIMS = { callbacks: 1.5, awaited: 2, invoke: 3, pendingBytes: 450 } as const;

export const core: Bench = {
  name: 'core',
  about: 'a Correctable beside a Promise and RxJS: time and memory per operation',
  run,
};

/**
 * With a thousand results on their way, V8 sometimes takes what one contender makes, a Promise or whichever it meets, for
 * long-lived and puts all of it with the old from then on: three times as slow until the next full collection.
 */
const EVEN_FLAGS = '--no-allocation-site-pretenuring';

async function run({ quick, progress }: Settings): Promise<Outcome> {
  setFlagsFromString(EVEN_FLAGS);
  const operations = quick ? 40_000 : 200_000;
  const strings = valuesOf('string');
  const objects = valuesOf('object');
  const contenders: Contender[] = [
    { name: 'promise', measure: () => drive(promise(), strings, operations) },
    { name: 'callbacks', measure: () => drive(callbacks(), strings, operations) },
    { name: 'callbacks, objects', measure: () => drive(callbacks(), objects, operations) },
    { name: 'awaited', measure: () => drive(awaited(), strings, operations) },
    { name: 'invoke', measure: () => invokeMemory(operations) },
    { name: 'speculate-hit', measure: () => drive(speculateHit(), strings, operations) },
    { name: 'rxjs', measure: () => drive(rxjs(), strings, operations) },
  ];
  const rounds = quick ? 5 : 11;
  const samples = await interleave(contenders, { rounds, warmUps: 2, progress });
  progress('memory of pending results');
  const bytes = await pendingBytes(quick ? 1 : 3);

  const baseline = samples.get('promise') as number[];
  const rows = contenders.map(({ name }) => {
    const times = samples.get(name) as number[];
    const ratios = spread(pairedRatios(times, baseline));
    const { median: ns, min, max } = spread(times);
    return {
      contender: name,
      nsPerOp: Math.round(ns),
      nsMin: Math.round(min),
      nsMax: Math.round(max),
      vsPromise: rounded(ratios.median),
      vsPromiseMin: rounded(ratios.min),
      vsPromiseMax: rounded(ratios.max),
      pendingBytes: bytes.get(name) ?? null,
    };
  });
  const ratioOf = (name: string): number => rows.find((row) => row.contender === name)?.vsPromise as number;
  const bars = [
    atMost('callbacks-vs-promise', ratioOf('callbacks'), AIMS.callbacks),
    atMost('awaited-vs-promise', ratioOf('awaited'), AIMS.awaited),
    atMost('invoke-vs-promise', ratioOf('invoke'), AIMS.invoke),
    reported('speculate-hit-vs-promise', ratioOf('speculate-hit')),
    atMost('pending-bytes', bytes.get('callbacks') as number, AIMS.pendingBytes, 'bytes'),
    reported('rx-vs-promise', ratioOf('rxjs')),
  ];
  const aims: Readonly<Record<string, number>> = AIMS;
  const plot = rangesFigure(
    'One result by each way: time per operation, as a multiple of a Promise',
    'time per operation ÷ that of a Promise (median and range of the rounds; red: the aim)',
    rows.map((row) => {
      const aim = aims[row.contender];
      const range = { label: row.contender, median: row.vsPromise, min: row.vsPromiseMin, max: row.vsPromiseMax };
      return aim === undefined ? range : { ...range, aim };
    }),
  );
  return { rounds, rows, bars, samples: { nsPerOp: Object.fromEntries(samples) }, figures: { core: plot } };
}

/** Bytes held by one pending result of each way, the median of `times` processes. */
async function pendingBytes(times: number): Promise<ReadonlyMap<string, number>> {
  const script = fileURLToPath(new URL('pending.ts', import.meta.url));
  const bytes = new Map<string, number>();
  for (const name of ['promise', 'callbacks', 'awaited', 'rxjs']) {
    const samples: number[] = [];
    for (let n = 0; n < times; n += 1) {
      const args = ['--expose-gc', '--import', 'tsx', script, name];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      samples.push(Number(stdout));
    }
    bytes.set(name, median(samples));
  }
  return bytes;
}
