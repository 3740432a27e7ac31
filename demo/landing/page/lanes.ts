/**
 * Draws the time axis: a lane for each way, in real milliseconds, and small drawings of the latest
 * clicks.
 */
import { byId, make } from '../../shared/page/dom.ts';
import type { Click } from '../click.ts';
import { measure } from '../measures.ts';
import { WAY_NAMES, type WayName } from '../ways/ways.ts';
import {
  readSegmentsOf,
  SEGMENT_NAMES,
  segmentsOf,
  ticksOf,
  type ReadSegment,
} from './segments.ts';

export type Clicks = Readonly<Record<WayName, Click>>;

/**
 * The width of a character of a label in pixels. The next constant is the space around the label.
 */
const CHARACTER_WIDTH = 7;
const LABEL_PADDING = 14;
const MULTIPLES_MAX = 20;

/** Draws the lanes up to a moment of the click. */
export function drawLanes(clicks: Clicks, untilMs: number, endMs: number): void {
  for (const way of WAY_NAMES)
    drawTrack(byId(`${way}-track`, HTMLDivElement), clicks[way], {
      untilMs,
      endMs,
      isSmall: false,
    });
}

export function drawAxis(endMs: number): void {
  const ticks = ticksOf(endMs).map((ms) => {
    const tick = make('span', 'tick', ms === 0 ? '0 ms' : String(ms));
    tick.style.left = percent(ms / endMs);
    return tick;
  });
  byId('axis', HTMLDivElement).replaceChildren(...ticks);
}

/** Adds a click to the latest ones, with its description. */
export function addMultiple(clicks: Clicks, endMs: number, description: string): void {
  const tracks = WAY_NAMES.map((way) => {
    const track = make('div', 'track');
    drawTrack(track, clicks[way], { untilMs: endMs, endMs, isSmall: true });
    return track;
  });
  const item = make('div', '', ...tracks);
  item.setAttribute('role', 'img');
  item.setAttribute('aria-label', description);
  item.title = description;
  const list = byId('multiples', HTMLOListElement);
  list.append(make('li', '', item));
  while (list.children.length > MULTIPLES_MAX) list.firstElementChild?.remove();
}

export function clearMultiples(): void {
  byId('multiples', HTMLOListElement).replaceChildren();
}

interface Drawing {
  readonly untilMs: number;
  readonly endMs: number;
  readonly isSmall: boolean;
}

function drawTrack(track: HTMLElement, click: Click, { untilMs, endMs, isSmall }: Drawing): void {
  const width = isSmall ? 0 : track.clientWidth;
  const bars = segmentsOf(click, Math.min(untilMs, endMs)).map(({ kind, fromMs, toMs }) => {
    const label = SEGMENT_NAMES[kind];
    const hasRoom =
      (width * (toMs - fromMs)) / endMs > CHARACTER_WIDTH * label.length + LABEL_PADDING;
    const bar = make('span', `bar ${kind}`, !isSmall && hasRoom ? label : '');
    bar.style.left = percent(fromMs / endMs);
    bar.style.width = percent((toMs - fromMs) / endMs);
    return bar;
  });
  const { pressed, wrongSale } = measure(click);
  if (pressed !== undefined && pressed.atMs <= Math.min(untilMs, endMs)) {
    const mark = make(
      'span',
      wrongSale === undefined ? 'press' : 'press bad',
      isSmall ? '' : 'Buy',
    );
    mark.style.left = percent(pressed.atMs / endMs);
    bars.push(mark);
  }
  if (!isSmall)
    bars.push(
      ...readSegmentsOf(click, Math.min(untilMs, endMs)).map((read) => drawRead(read, endMs)),
    );
  track.replaceChildren(...bars);
}

function drawRead({ row, fromMs, toMs }: ReadSegment, endMs: number): HTMLElement {
  const line = make('span', row === 0 ? 'read first' : 'read second');
  line.style.left = percent(fromMs / endMs);
  line.style.width = percent((toMs - fromMs) / endMs);
  return line;
}

const percent = (share: number): string => `${(100 * share).toFixed(2)}%`;
