/**
 * Runs contenders against each other on a machine that is not quiet: all in every round, each round beginning with
 * another one, so that a slow spell hits everybody.
 */
import { rotate } from './rotate.ts';

export interface Contender {
  readonly name: string;
  /** Runs once and returns the cost of one operation in nanoseconds, or whatever the caller compares. */
  readonly measure: () => Promise<number> | number;
}

export interface InterleaveOptions {
  readonly rounds: number;
  /** Rounds that were run before by others of the same names, in so many starts: who is first goes on from there. */
  readonly before?: { readonly starts: number; readonly rounds: number };
  /** Rounds that are run and thrown away first. */
  readonly warmUps: number;
  /** Goes on by as many rounds again, up to this many, until `isDecided` says that more would tell nothing. */
  readonly roundsMax?: number;
  readonly isDecided?: (samples: ReadonlyMap<string, readonly number[]>) => boolean;
  readonly progress: (text: string) => void;
}

/** Samples by contender's name, one a round, in the order of the rounds. */
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
  // In the other order in every other start, since otherwise everybody would always come after the same one.
  const ordered = before.starts % 2 === 0 ? contenders : contenders.toReversed();
  const samples = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (let round = -warmUps; round < maxRounds; round += 1) {
    if (round > 0 && round % rounds === 0 && isDecided(samples)) break;
    const of = round < rounds ? `of ${rounds}` : `of at most ${maxRounds}, until it is decided`;
    progress(round < 0 ? `warm-up ${round + warmUps + 1} of ${warmUps}` : `round ${round + 1} ${of}`);
    for (const { name, measure } of rotate(ordered, before.rounds + round + warmUps)) {
      const sample = await measure();
      if (round >= 0) samples.get(name)?.push(sample);
    }
  }
  return samples;
}
