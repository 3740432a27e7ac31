/** Draws a request as a timeline. */
import * as Plot from '@observablehq/plot';
import { formatMs } from './format.ts';
import type { Span, Trace } from './trace.ts';

export interface TimelineOptions {
  /** The end of the axis, in milliseconds: the same for timelines that are to be compared. */
  readonly endMs: number;
  /** How much of the course to show, in milliseconds from the call. */
  readonly untilMs: number;
  /** The name of the referenced things. */
  readonly things: string;
  /** The width in pixels. */
  readonly width: number;
}

interface Bar {
  readonly lane: string;
  readonly from: number;
  readonly to: number;
  readonly color: string;
  readonly cancelled: boolean;
}

interface Moment {
  readonly lane: string;
  readonly at: number;
  readonly text: string;
  readonly color: string;
}

const REFERENCES = 'references';
const CONTENT = 'text, media';
const HEIGHT = 176;

/**
 * Draws `trace` as an SVG element. It has the colors of the page, and so follows its theme. It is
 * hidden from screen readers: the page around it has the same in words.
 */
export function timeline(
  trace: Trace,
  { endMs, untilMs, things, width }: TimelineOptions,
): Element {
  const bars = computeGoalResults(trace, untilMs, things);
  const moments = momentsOf(trace, things).filter(({ at }) => at <= untilMs);
  const [retained, cancelled] = [
    bars.filter((bar) => !bar.cancelled),
    bars.filter((bar) => bar.cancelled),
  ];
  const { deliveredMs } = trace;
  const delivered = deliveredMs !== undefined && deliveredMs <= untilMs ? [deliveredMs] : [];
  const span = { x1: 'from', x2: 'to', y: 'lane' } as const;
  const hasContent = trace.spans.some(({ kind }) => kind === 'content');
  const drawing = Plot.plot({
    width,
    height: HEIGHT,
    marginLeft: 78,
    marginRight: 12,
    marginTop: 24,
    marginBottom: 30,
    style: 'background: transparent; color: var(--quiet); font-size: 12px;',
    x: {
      domain: [0, endMs],
      label: null,
      grid: true,
      ticks: Math.max(2, Math.round(width / 110)),
      tickFormat: (ms: number) => `${ms} ms`,
    },
    y: { domain: [REFERENCES, things, ...(hasContent ? [CONTENT] : [])], label: null, tickSize: 0 },
    marks: [
      Plot.barX(retained, {
        ...span,
        fill: 'color',
        insetTop: 11,
        insetBottom: 11,
        rx: 2,
        fillOpacity: 0.85,
      }),
      Plot.barX(cancelled, {
        ...span,
        fill: 'none',
        stroke: 'var(--amber)',
        strokeDasharray: '4 3',
        strokeWidth: 1.5,
        insetTop: 11,
        insetBottom: 11,
      }),
      Plot.tickX(moments, {
        x: 'at',
        y: 'lane',
        stroke: 'color',
        strokeWidth: 3,
        insetTop: 6,
        insetBottom: 6,
      }),
      ...markDelivery(delivered, endMs),
    ],
  });
  drawing.setAttribute('aria-hidden', 'true');
  return drawing;
}

/** Draws a line and its label at the time of the delivery, if there was one. */
function markDelivery(delivered: readonly number[], endMs: number): Plot.Markish[] {
  return [
    Plot.ruleX(delivered, { stroke: 'var(--ink)', strokeWidth: 2.5 }),
    Plot.text(delivered, {
      x: (at: number) => at,
      text: (at: number) => `delivered ${formatMs(at)}`,
      frameAnchor: 'top',
      textAnchor: (delivered[0] ?? 0) > endMs / 2 ? 'end' : 'start',
      dy: -16,
      fill: 'var(--ink)',
      fontWeight: 600,
    }),
  ];
}

function computeGoalResults(trace: Trace, untilMs: number, things: string): Bar[] {
  const waitedMs = Math.min(trace.final?.atMs ?? untilMs, untilMs);
  const waiting = {
    lane: REFERENCES,
    from: 0,
    to: waitedMs,
    color: 'var(--pale)',
    cancelled: false,
  };
  return [
    waiting,
    ...trace.spans
      .filter(({ fromMs }) => fromMs < untilMs)
      .map((span) => barOf(span, untilMs, things)),
  ];
}

/** Returns the bar of a span. It is shown as canceled only after the time of its cancellation. */
function barOf(
  { kind, fromMs, toMs = Infinity, cancelled }: Span,
  untilMs: number,
  things: string,
): Bar {
  return {
    lane: kind === 'read' ? things : CONTENT,
    from: fromMs,
    to: Math.min(toMs, untilMs),
    color: kind === 'read' ? 'var(--early)' : 'var(--content)',
    cancelled: cancelled && toMs <= untilMs,
  };
}

function momentsOf(
  { preliminary, final, changedMs, cancelledMs }: Trace,
  things: string,
): Moment[] {
  const moments: Moment[] = [];
  const add = (lane: string, at: number | undefined, text: string, color: string): void => {
    if (at !== undefined) moments.push({ lane, at, text, color });
  };
  add(REFERENCES, preliminary?.atMs, 'early', 'var(--early)');
  add(REFERENCES, changedMs, 'changed', 'var(--amber)');
  add(REFERENCES, final?.atMs, 'confirmed', 'var(--good)');
  add(things, cancelledMs, 'canceled', 'var(--amber)');
  return moments;
}
