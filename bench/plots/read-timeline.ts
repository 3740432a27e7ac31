/** Draws the time line of one read: when its preliminary and its final view come. */
import * as Plot from '@observablehq/plot';
import { BACK, BESIDE, BLUE, figure, GREY, short, VIOLET, type Figure, type Texts } from './svg.ts';

/** Something that happens during the read. */
export interface Moment {
  readonly ms: number;
  readonly text: string;
}

export interface ReadTimeline extends Texts {
  readonly preliminary: Moment;
  readonly final: Moment;
}

const WIDTH = 760;
const HEIGHT = 130;

export function readTimelineFigure({ preliminary, final, ...texts }: ReadTimeline): Figure {
  const stages = [
    { from: 0, to: preliminary.ms, color: GREY },
    { from: preliminary.ms, to: final.ms, color: BLUE },
  ];
  const views = [
    { ...preliminary, color: BLUE, dy: -26 },
    { ...final, color: VIOLET, dy: 26 },
  ];
  return figure(texts, {
    width: WIDTH,
    height: HEIGHT,
    marginTop: 10,
    marginLeft: 40,
    marginRight: 40,
    x: { ...BESIDE, label: 'milliseconds from the call', grid: true, domain: [0, final.ms * 1.06] },
    marks: [
      Plot.ruleY(stages, { x1: 'from', x2: 'to', y: () => 0, stroke: 'color', strokeWidth: 5 }),
      Plot.dot(views, { x: 'ms', y: () => 0, fill: 'color', r: 7, stroke: BACK }),
      ...views.map(({ ms, text, color, dy }, at) =>
        Plot.text([`${short(ms)} ms: ${text}`], {
          x: () => ms,
          y: () => 0,
          dy,
          dx: at === 0 ? -6 : 6,
          textAnchor: at === 0 ? 'start' : 'end',
          fill: color,
          stroke: BACK,
          strokeWidth: 4,
          fontSize: 13,
          fontWeight: 'bold',
        }),
      ),
    ],
    y: { axis: null, domain: [-1, 1] },
    color: { type: 'identity' },
  });
}
