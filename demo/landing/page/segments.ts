/** Converts a click to bars on a time axis. */
import type { Click } from '../click.ts';
import { measure } from '../measures.ts';
import { truePrice } from '../scenario.ts';
import { OFFER } from '../ways/shop.ts';

/**
 * - `waiting`: nothing is shown.
 * - `early`: an early answer is shown and marked; `wasted`: the same, and it is wrong, so what was
 *   built on it is thrown away.
 * - `unmarked`: an answer is shown that may be old, and looks certain; `wrong`: the same, and it is
 *   old.
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
  wasted: 'wrong early answer',
  unmarked: 'shown as certain',
  wrong: 'wrong, shown as certain',
  confirmed: 'confirmed',
};

/** @param untilMs how much of the click to show, in milliseconds */
export function segmentsOf(click: Click, untilMs: number): readonly Segment[] {
  const {
    shownMs = untilMs,
    confirmedMs = untilMs,
    correctedMs = untilMs,
    isMarked,
  } = measure(click);
  const first = click.steps.find((step) => step.kind === 'shown');
  const isWrong = first !== undefined && first.goods.offer.price !== truePrice(click.scenario);
  const wrongUntilMs = isWrong ? correctedMs : shownMs;
  const all: readonly Segment[] = [
    { kind: 'waiting', fromMs: 0, toMs: shownMs },
    { kind: isMarked ? 'wasted' : 'wrong', fromMs: shownMs, toMs: wrongUntilMs },
    {
      kind: isMarked ? 'early' : 'unmarked',
      fromMs: wrongUntilMs,
      toMs: isMarked ? confirmedMs : untilMs,
    },
    { kind: 'confirmed', fromMs: confirmedMs, toMs: isMarked ? untilMs : confirmedMs },
  ];
  return all
    .map(({ kind, fromMs, toMs }) => ({
      kind,
      fromMs: Math.min(fromMs, untilMs),
      toMs: Math.min(toMs, untilMs),
    }))
    .filter(({ fromMs, toMs }) => toMs > fromMs);
}

/**
 * A read on its way: the first one is drawn in the upper row, the one that depends on it in the
 * lower row.
 */
export interface ReadSegment {
  readonly row: 0 | 1;
  readonly fromMs: number;
  readonly toMs: number;
}

/** @param untilMs how much of the click to show, in milliseconds */
export function readSegmentsOf({ reads }: Click, untilMs: number): readonly ReadSegment[] {
  return reads
    .filter(({ fromMs }) => fromMs < untilMs)
    .map(({ key, fromMs, toMs = untilMs }) => ({
      row: key === OFFER ? 0 : 1,
      fromMs,
      toMs: Math.min(toMs, untilMs),
    }));
}

const STEPS_MS = [5, 10, 20, 50, 100, 200, 500, 1_000] as const;
const TICKS_MAX = 7;

/** Returns round numbers from 0 to the end of an axis, few enough to be readable. */
export function ticksOf(endMs: number): readonly number[] {
  const step = STEPS_MS.find((ms) => endMs / ms <= TICKS_MAX) ?? endMs;
  return Array.from({ length: Math.floor(endMs / step) + 1 }, (_, n) => n * step);
}
