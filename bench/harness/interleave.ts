/**
 * Runs contenders against each other on a machine that is not quiet: all in every round, each round
 * beginning with another one, so that a slow period of the machine affects all contenders.
 */
import { rotate } from './rotate.ts';

export interface Contender {
  readonly name: string;
  /**
   * Runs once and returns the cost of one operation in nanoseconds, or whatever the caller
   * compares.
   */
  readonly measure: () => Promise<number> | number;
}

export interface InterleaveOptions {
  readonly rounds: number;
  /**
   * The earlier starts and rounds of contenders with the same names. The order of the contenders
   * continues from them.
   */
  readonly before?: { readonly starts: number; readonly rounds: number };
  /** Rounds that are run and thrown away first. */
  readonly warmUps: number;
  /** The maximum number of rounds. After each `rounds`, `isDecided` returns whether to stop. */
  readonly roundsMax?: number;
  readonly isDecided?: (samples: ReadonlyMap<string, readonly number[]>) => boolean;
  readonly progress: (text: string) => void;
}

/** Runs the contenders. Returns the samples by the name of the contender, one for each round. */
export async function interleave(
  contenders: readonly Contender[],
  {
    rounds,
    warmUps,
    roundsMax: maxRounds = rounds,
    before = { starts: 0, rounds: 0 },
    isDecided = () => true,
    progress,
  }: InterleaveOptions,
): Promise<ReadonlyMap<string, number[]>> {
  // Reverse the order in every second start. Otherwise each contender would always run after the
  // same other one.
  const ordered = before.starts % 2 === 0 ? contenders : contenders.toReversed();
  const samples = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (let round = -warmUps; round < maxRounds; round += 1) {
    if (round > 0 && round % rounds === 0 && isDecided(samples)) break;
    const of = round < rounds ? `of ${rounds}` : `of at most ${maxRounds}, until it is decided`;
    progress(
      round < 0 ? `warm-up ${round + warmUps + 1} of ${warmUps}` : `round ${round + 1} ${of}`,
    );
    for (const { name, measure } of rotate(ordered, before.rounds + round + warmUps)) {
      const sample = await measure();
      if (round >= 0) samples.get(name)?.push(sample);
    }
  }
  return samples;
}
