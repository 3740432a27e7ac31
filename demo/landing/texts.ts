/** The sentences of the page, computed from what was measured. */
import { median, type Measures } from './measures.ts';
import { WAYS, WAY_NAMES, type WayName } from './ways/ways.ts';

/** One click, each way. */
export type Round = Readonly<Record<WayName, Measures>>;

const digits = (ms: number): string => ms.toFixed(0);
const count = (rounds: readonly Round[], way: WayName, is: (measures: Measures) => boolean): number =>
  rounds.filter((round) => is(round[way])).length;
const medianUsable = (rounds: readonly Round[], way: WayName): string => {
  const times = rounds.map((round) => round[way].usableMs).filter((ms) => ms !== undefined);
  return times.length === 0 ? 'never' : digits(median(times));
};

/** What all clicks at one distance amount to. */
export function summarize(rounds: readonly Round[], distanceMs: number): { headline: string; others: string } {
  const clicks = rounds.length === 1 ? '1 click' : `${rounds.length} clicks`;
  const wrong = (way: WayName): number => count(rounds, way, ({ boughtAtWrongPrice }) => boughtAtWrongPrice);
  const corrected = count(rounds, 'correctables', ({ correctedMs }) => correctedMs !== undefined);
  const [early, late] = [medianUsable(rounds, 'correctables'), medianUsable(rounds, 'await')];
  return {
    headline: `${clicks} at ${distanceMs} ms: usable after ${early} ms instead of ${late}; ${corrected} corrected, ${wrong('correctables')} bought at a wrong price.`,
    others: `Stale-while-revalidate: usable after ${medianUsable(rounds, 'stale')} ms, but ${wrong('stale')} bought at a wrong price.`,
  };
}

/** What happened on one way, in half a sentence. */
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

/** One sentence for a click, for people who cannot see the panes. */
export function describeRound(round: Round): string {
  return `${WAY_NAMES.map((way) => `${WAYS[way].title}: ${describe(round[way])}`).join('. ')}.`;
}
