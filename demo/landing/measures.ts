/** Measures a click: its times, and whether the customer got what the page showed. */
import type { Click, Step } from './click.ts';
import { truePrice } from './scenario.ts';
import type { Answer } from './ways/shop.ts';

export interface Measures {
  /** The time until the whole page was shown. */
  readonly usableMs: number | undefined;
  /** The time until the page showed the values of the shop's own server; undefined if that has not happened. */
  readonly confirmedMs: number | undefined;
  /** Whether a customer can see if the page is confirmed. */
  readonly isMarked: boolean;
  /** When another price replaced the first one. */
  readonly correctedMs: number | undefined;
  /** When the customer pressed Buy, and the price on the button then. */
  readonly pressed: { readonly atMs: number; readonly price: number } | undefined;
  readonly boughtAtWrongPrice: boolean;
  readonly answer: Answer | undefined;
  readonly takenBack: boolean;
  /** Why no further answer arrived. */
  readonly failure: string | undefined;
}

export function measure({ way, scenario, steps }: Click): Measures {
  const shown = steps.filter((step) => step.kind === 'shown');
  const [first] = shown;
  const last = shown.at(-1);
  const pressed = find(steps, 'pressed');
  const answer = steps.findLast((step) => step.kind === 'answered')?.answer;
  const isConfirmed = way === 'stale' ? shown.length > 1 : last !== undefined && last.state !== 'confirming';
  const corrected = shown.find(({ goods }) => goods.offer.price !== first?.goods.offer.price);
  return {
    usableMs: first?.atMs,
    confirmedMs: isConfirmed ? last?.atMs : undefined,
    isMarked: way !== 'stale',
    correctedMs: corrected?.atMs,
    pressed,
    boughtAtWrongPrice: pressed !== undefined && answer === 'yours' && pressed.price !== truePrice(scenario),
    answer,
    takenBack: answer === 'taken back',
    failure: find(steps, 'failed')?.code,
  };
}

function find<K extends Step['kind']>(steps: readonly Step[], kind: K): Extract<Step, { kind: K }> | undefined {
  return steps.find((step): step is Extract<Step, { kind: K }> => step.kind === kind);
}

/** Returns the median. With an even number of values, this is the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}
