/** The sentences of the page, computed from what was measured. */
import { median, type Measures } from './measures.ts';
import type { Scenario } from './scenario.ts';
import { WAYS, WAY_NAMES, type WayName } from './ways/ways.ts';

/** The measures of one click in each way. */
export type Round = Readonly<Record<WayName, Measures>>;

const digits = (ms: number): string => ms.toFixed(0);

type Time = 'shownMs' | 'enabledMs';

/** Summarizes clicks that met the same distance and the same faults. */
export function summarize(
  rounds: readonly Round[],
  scenario: Scenario,
): { headline: string; others: string } {
  const what = describeScenario(rounds, scenario);
  const wrong = formatCount(countWrongSales(rounds, 'correctables'));
  return {
    headline: `${what}: shown ${compare(rounds, 'shownMs')}, Buy enabled ${compare(rounds, 'enabledMs')}, ${wrong}.`,
    others: describeRivals(rounds),
  };
}

function describeScenario(
  rounds: readonly Round[],
  { isStale, isLastOne, isCut, distanceMs }: Scenario,
): string {
  if (rounds.length === 1 && isCut) return 'No connection';
  if (rounds.length === 1 && isLastOne) return 'Someone else took the last one';
  if (rounds.length === 1 && isStale) return 'The price just changed';
  return `${rounds.length === 1 ? '1 click' : `${rounds.length} clicks`}, ${distanceMs} ms away`;
}

/** Compares Correctables with plain await, in milliseconds. */
function compare(rounds: readonly Round[], time: Time): string {
  const early = medianOf(rounds, 'correctables', time);
  const late = medianOf(rounds, 'await', time);
  if (early === undefined) return 'never';
  return `after ${digits(early)} ms instead of ${late === undefined ? 'never' : digits(late)}`;
}

function describeRivals(rounds: readonly Round[]): string {
  const heldMs = medianOf(rounds, 'careful', 'enabledMs');
  const held = heldMs === undefined ? 'never enabled Buy' : `enabled Buy ${formatMs(heldMs)}`;
  const atOnce = formatMs(medianOf(rounds, 'careless', 'enabledMs'));
  const wrong = countWrongSales(rounds, 'careless');
  return `Stale-while-revalidate ${held}. Without holding it, ${atOnce}, ${wrong > 0 ? 'but' : 'and'} ${formatCount(wrong)}.`;
}

const formatMs = (ms: number | undefined): string =>
  ms === undefined ? 'never' : `after ${digits(ms)} ms`;
const formatCount = (wrong: number): string =>
  wrong === 1 ? '1 wrong sale' : `${wrong} wrong sales`;

function medianOf(rounds: readonly Round[], way: WayName, time: Time): number | undefined {
  const times = rounds.map((round) => round[way][time]).filter((ms) => ms !== undefined);
  return times.length === 0 ? undefined : median(times);
}

function countWrongSales(rounds: readonly Round[], way: WayName): number {
  return rounds.filter((round) => round[way].wrongSale !== undefined).length;
}

/** Counts the wrong sales of one way. */
export function tally(
  rounds: readonly Round[],
  way: WayName,
): { readonly text: string; readonly isWrong: boolean } {
  const wrong = countWrongSales(rounds, way);
  return { text: `${wrong} of ${rounds.length}`, isWrong: wrong > 0 };
}

/**
 * How long a screen shows one picture, in milliseconds. People see what happens within it as one
 * moment.
 */
const FRAME_MS = 1000 / 60;

/** Describes the result of one way, as a part of a sentence. */
export function describe(measures: Measures): string {
  const { shownMs, enabledMs, correctedMs, isMarked } = measures;
  const isOneMoment =
    shownMs !== undefined && enabledMs !== undefined && enabledMs - shownMs < FRAME_MS;
  const parts = [
    shownMs === undefined
      ? 'showed nothing'
      : `shown${isOneMoment ? ' and Buy enabled' : ''} after ${digits(shownMs)} ms`,
  ];
  if (correctedMs !== undefined)
    parts.push(`price ${isMarked ? 'corrected' : 'replaced'} after ${digits(correctedMs)}`);
  if (!isOneMoment)
    parts.push(
      enabledMs === undefined ? 'Buy never enabled' : `Buy enabled after ${digits(enabledMs)}`,
    );
  return [...parts, ...describeSale(measures)].join(', ');
}

function describeSale({ answer, pressed, wrongSale }: Measures): readonly string[] {
  if (wrongSale === 'wrong price') return [`sold at ${pressed?.price} €, a wrong price`];
  if (wrongSale === 'taken back') return ['showed “Yours”, then took it back'];
  if (wrongSale === 'never sold') return ['showed “Yours”, but sold nothing'];
  if (answer === 'yours') return [`sold at ${pressed?.price} €`];
  return answer === 'sold out' ? ['sold out'] : [];
}

/** Describes a click in one sentence, for people who cannot see the panes. */
export function describeRound(round: Round): string {
  return `${WAY_NAMES.map((way) => `${WAYS[way].title}: ${describe(round[way])}`).join('. ')}.`;
}
