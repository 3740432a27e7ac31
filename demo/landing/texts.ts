/** The sentences of the page, computed from what was measured. */
import { median, type Measures } from './measures.ts';
import { WAYS, WAY_NAMES, type WayName } from './ways/ways.ts';

/** The measures of one click in each way. */
export type Round = Readonly<Record<WayName, Measures>>;

const digits = (ms: number): string => ms.toFixed(0);
const count = (rounds: readonly Round[], way: WayName, is: (measures: Measures) => boolean): number =>
  rounds.filter((round) => is(round[way])).length;
const medianUsable = (rounds: readonly Round[], way: WayName): string => {
  const times = rounds.map((round) => round[way].usableMs).filter((ms) => ms !== undefined);
  return times.length === 0 ? 'never' : digits(median(times));
};

/** Summarizes all clicks at one distance. */
export function summarize(rounds: readonly Round[], distanceMs: number): { headline: string; others: string } {
  const clicks = rounds.length === 1 ? '1 click' : `${rounds.length} clicks`;
  const wrong = (way: WayName): number => count(rounds, way, ({ boughtAtWrongPrice }) => boughtAtWrongPrice);
  const wrongStale = wrong('stale');
  const corrected = count(rounds, 'correctables', ({ correctedMs }) => correctedMs !== undefined);
  const [early, late] = [medianUsable(rounds, 'correctables'), medianUsable(rounds, 'await')];
  return {
    headline: `${clicks}, ${distanceMs} ms from the server: usable after ${early} ms instead of ${late}; ${corrected} corrected, ${wrong('correctables')} bought at a wrong price.`,
    others: `Plain await is usable after ${late} ms. Stale-while-revalidate after ${medianUsable(rounds, 'stale')} ms, ${wrongStale > 0 ? 'but' : 'and'} ${wrongStale} bought at a wrong price.`,
  };
}

/** Counts the clicks of one way that bought at a wrong price. */
export function tally(rounds: readonly Round[], way: WayName): { readonly text: string; readonly isWrong: boolean } {
  const wrong = count(rounds, way, ({ boughtAtWrongPrice }) => boughtAtWrongPrice);
  return { text: `${wrong} of ${rounds.length}`, isWrong: wrong > 0 };
}

/** Describes the result of one way, as a part of a sentence. */
export function describe({ usableMs, confirmedMs, correctedMs, isMarked, ...measures }: Measures): string {
  const { answer, boughtAtWrongPrice, pressed, failure } = measures;
  const parts = [usableMs === undefined ? 'showed nothing' : `usable after ${digits(usableMs)} ms`];
  if (correctedMs !== undefined)
    parts.push(`price ${isMarked ? 'corrected' : 'replaced'} after ${digits(correctedMs)}`);
  if (confirmedMs !== undefined && isMarked && confirmedMs !== usableMs)
    parts.push(`confirmed after ${digits(confirmedMs)}`);
  if (failure !== undefined && confirmedMs === undefined) parts.push('never confirmed');
  if (boughtAtWrongPrice) parts.push(`sold at ${pressed?.price} €, a wrong price`);
  else if (answer === 'yours') parts.push(`sold at ${pressed?.price} €`);
  else if (answer === 'sold out') parts.push('sold out');
  else if (answer === 'taken back') parts.push('sold, then taken back');
  else if (failure !== undefined) parts.push('nothing sold');
  return parts.join(', ');
}

/** Describes a click in one sentence, for people who cannot see the panes. */
export function describeRound(round: Round): string {
  return `${WAY_NAMES.map((way) => `${WAYS[way].title}: ${describe(round[way])}`).join('. ')}.`;
}
