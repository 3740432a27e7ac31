/** Measures a click: its times, and whether the customer got what the page showed. */
import type { Click, Step } from './click.ts';
import { truePrice } from './scenario.ts';
import type { Answer } from './ways/shop.ts';

export interface Measures {
  /** The time until the whole page was shown. */
  readonly shownMs: number | undefined;
  /** The time until Buy was enabled. */
  readonly enabledMs: number | undefined;
  /**
   * The time until the page showed the values of the shop's own server; undefined if that has not
   * happened.
   */
  readonly confirmedMs: number | undefined;
  /** Whether a customer can see if the page is confirmed. */
  readonly isMarked: boolean;
  /** When another price replaced the first one. */
  readonly correctedMs: number | undefined;
  /** When the customer pressed Buy, and the price on the button then. */
  readonly pressed: { readonly atMs: number; readonly price: number } | undefined;
  readonly answer: Answer | undefined;
  /** What was wrong with the “Yours” that the customer got. */
  readonly wrongSale: 'wrong price' | 'taken back' | 'never sold' | undefined;
  /** Why no further answer arrived. */
  readonly failure: string | undefined;
}

export function measure(click: Click): Measures {
  const { way, steps } = click;
  const shown = steps.filter((step) => step.kind === 'shown');
  const [first] = shown;
  const last = shown.at(-1);
  const isMarked = way !== 'careless';
  const isConfirmed = isMarked
    ? last !== undefined && last.state !== 'confirming'
    : shown.length > 1;
  const corrected = shown.find(({ goods }) => goods.offer.price !== first?.goods.offer.price);
  return {
    shownMs: first?.atMs,
    enabledMs: find(steps, 'allowed')?.atMs,
    confirmedMs: isConfirmed ? last?.atMs : undefined,
    isMarked,
    correctedMs: corrected?.atMs,
    pressed: find(steps, 'pressed'),
    answer: findAnswer(steps),
    wrongSale: findWrongSale(click),
    failure: find(steps, 'failed')?.code,
  };
}

function findWrongSale({ steps, scenario }: Click): Measures['wrongSale'] {
  const answer = findAnswer(steps);
  if (answer === 'taken back') return 'taken back';
  if (answer !== 'yours') return undefined;
  if (steps.some((step) => step.kind === 'failed' && step.during === 'buying')) return 'never sold';
  return find(steps, 'pressed')?.price === truePrice(scenario) ? undefined : 'wrong price';
}

function findAnswer(steps: readonly Step[]): Answer | undefined {
  return steps.findLast((step) => step.kind === 'answered')?.answer;
}

function find<K extends Step['kind']>(
  steps: readonly Step[],
  kind: K,
): Extract<Step, { kind: K }> | undefined {
  return steps.find((step): step is Extract<Step, { kind: K }> => step.kind === kind);
}

/** Returns the median. With an even number of values, this is the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (
    ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
  );
}
