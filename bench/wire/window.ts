/** Measures all contenders with one number of operations in flight. */
import { interleave } from '../harness/interleave.ts';
import { AIMED, isDecided, PAIRS, type Samples } from './goals.ts';
import type { BytesPerOp, Name } from './messages.ts';
import type { Measured, Pair } from './processes.ts';

/**
 * Returns the samples of all contenders. Each echo sends as many bytes as its gateway has just
 * used.
 */
export async function measureWindow(
  pairs: ReadonlyMap<Name, Pair>,
  window: number,
  { durationMs, ...order }: Order,
): Promise<Samples> {
  const warmUps = 2;
  const carried = new Map<Name, BytesPerOp>();
  for (const { of, to } of PAIRS)
    carried.set(to, await bytesOf(pairs.get(of) as Pair, window, durationMs));
  const measured = new Map<Name, Measured[]>([...pairs.keys()].map((name) => [name, []]));
  const contenders = [...pairs].map(([mode, pair]) => ({
    name: mode,
    async measure() {
      const item = await pair.run(window, durationMs, carried.get(mode));
      measured.get(mode)?.push(item);
      return item.opsPerSecond;
    },
  }));
  const decided = (): boolean => window !== AIMED || isDecided(withoutFirst(measured, warmUps));
  await interleave(contenders, { warmUps, isDecided: decided, ...order });
  return withoutFirst(measured, warmUps);
}

interface Order {
  readonly rounds: number;
  readonly roundsMax: number;
  readonly durationMs: number;
  readonly progress: (text: string) => void;
}

async function bytesOf(pair: Pair, window: number, durationMs: number): Promise<BytesPerOp> {
  const { bytesSentPerOp, bytesReceivedPerOp } = await pair.run(window, durationMs);
  return { sent: bytesSentPerOp, received: bytesReceivedPerOp };
}

function withoutFirst(measured: ReadonlyMap<Name, Measured[]>, warmUps: number): Samples {
  return new Map([...measured].map(([name, list]) => [name, list.slice(warmUps)]));
}
