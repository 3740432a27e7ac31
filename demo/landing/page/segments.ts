/** Converts a click to bars on a time axis. */
import type { Click } from '../click.ts';
import { measure } from '../measures.ts';
import { truePrice } from '../scenario.ts';

/**
 * - `waiting`: nothing is shown.
 * - `early`: an early answer is shown and marked; `wasted`: the same, and it is wrong, so what was built on it is thrown away.
 * - `unmarked`: an answer is shown that may be old, and looks certain; `wrong`: the same, and it is old.
 * - `confirmed`: the answer of the shop's own server is shown.
 */
export type SegmentKind = 'waiting' | 'early' | 'wasted' | 'unmarked' | 'wrong' | 'confirmed';

export interface Segment {
  readonly kind: SegmentKind;
  readonly fromMs: number;
  readonly toMs: number;
}

export const SEGMENT_NAMES: Readonly<Record<SegmentKind, string>> = {
  waiting: 'waiting',
  early: 'early answer',
  wasted: 'wrong early answer, built on in vain',
  unmarked: 'shown as certain',
  wrong: 'wrong, shown as certain',
  confirmed: 'confirmed',
};

/** @param untilMs how much of the click to show, in milliseconds */
export function segmentsOf(click: Click, untilMs: number): readonly Segment[] {
  const { usableMs = untilMs, confirmedMs = untilMs, correctedMs = untilMs } = measure(click);
  const first = click.steps.find((step) => step.kind === 'shown');
  const isWrong = first !== undefined && first.goods.offer.price !== truePrice(click.scenario);
  const isStale = click.way === 'stale';
  const wrongUntilMs = isWrong ? correctedMs : usableMs;
  const all: readonly Segment[] = [
    { kind: 'waiting', fromMs: 0, toMs: usableMs },
    { kind: isStale ? 'wrong' : 'wasted', fromMs: usableMs, toMs: wrongUntilMs },
    { kind: isStale ? 'unmarked' : 'early', fromMs: wrongUntilMs, toMs: isStale ? untilMs : confirmedMs },
    { kind: 'confirmed', fromMs: confirmedMs, toMs: isStale ? confirmedMs : untilMs },
  ];
  return all
    .map(({ kind, fromMs, toMs }) => ({ kind, fromMs: Math.min(fromMs, untilMs), toMs: Math.min(toMs, untilMs) }))
    .filter(({ fromMs, toMs }) => toMs > fromMs);
}

const STEPS_MS = [5, 10, 20, 50, 100, 200, 500, 1_000] as const;
const TICKS_MAX = 7;

/** Returns round numbers from 0 to the end of an axis, few enough to be readable. */
export function ticksOf(endMs: number): readonly number[] {
  const step = STEPS_MS.find((ms) => endMs / ms <= TICKS_MAX) ?? endMs;
  return Array.from({ length: Math.floor(endMs / step) + 1 }, (_, n) => n * step);
}
