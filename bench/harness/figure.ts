/** Plots as SVG text, drawn by Observable Plot on a small DOM. */
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';

/** Light or dark as the reader prefers: a picture does not inherit the colors of its page. */
const STYLE = `
svg { background: #fff; color: #1b1f24; font-family: system-ui, sans-serif; font-size: 12px; }
@media (prefers-color-scheme: dark) { svg { background: #14171a; color: #e6e8ea; } }
`;

/** Captions of axes stand beside them: at the top they would meet the title. */
const BESIDE = { labelAnchor: 'center', labelArrow: 'none' } as const;

/**
 * A self-contained SVG document of a plot, with its title inside.
 *
 * @param title the finding, as a sentence
 * @param description what is drawn, for readers who do not see it
 */
export function figure(title: string, options: Plot.PlotOptions, description = ''): string {
  const { document } = parseHTML('<html><body></body></html>');
  const size = { width: 760, marginTop: 48, marginBottom: 44 };
  const plot = Plot.plot({ ...size, ...options, y: { ...BESIDE, ...options.y }, document });
  const svg = plot.tagName.toLowerCase() === 'svg' ? plot : plot.querySelector('svg');
  if (svg === null) throw new Error(`the plot "${title}" drew no SVG`);
  const heading = document.createElementNS('http://www.w3.org/2000/svg', 'text');
  const attributes = { x: '16', y: '22', 'text-anchor': 'start', 'font-size': '15', 'font-weight': '600' };
  for (const [name, value] of Object.entries({ ...attributes, fill: 'currentColor' }))
    heading.setAttribute(name, value);
  heading.textContent = title;
  svg.append(heading);
  const parts = { style: STYLE, desc: description, title };
  for (const [name, content] of Object.entries(parts)) {
    if (content === '') continue;
    const part = document.createElementNS('http://www.w3.org/2000/svg', name);
    part.textContent = content;
    svg.prepend(part);
  }
  svg.setAttribute('role', 'img');
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return `${svg.outerHTML}\n`;
}

/** A range on a bar chart. */
export interface Range {
  readonly label: string;
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** A goal to mark, where there is one. */
  readonly aim?: number;
}

/** How much of the axis a number takes, about. */
const NUMBER_SHARE = 0.09;

/** Horizontal bars with their range over the rounds, and a red tick at the aim. */
export function rangesFigure(title: string, axis: string, ranges: readonly Range[]): string {
  const aims = ranges.filter((range) => range.aim !== undefined);
  const extent = Math.max(...ranges.map(({ max, aim = 0 }) => Math.max(max, aim)));
  // An aim just beyond the range would cut through the number.
  const endOfMarks = ({ max, aim = 0 }: Range): number =>
    aim < max + extent * NUMBER_SHARE ? Math.max(max, aim) : max;
  return figure(title, {
    height: 92 + ranges.length * 34,
    marginLeft: 230,
    marginRight: 60,
    x: { label: axis, grid: true, zero: true },
    y: { label: null, domain: ranges.map((range) => range.label) },
    marks: [
      Plot.barX(ranges, { y: 'label', x: 'median', fill: '#4a7fb5', insetTop: 4, insetBottom: 4 }),
      Plot.ruleY(ranges, { y: 'label', x1: 'min', x2: 'max', stroke: 'currentColor' }),
      Plot.tickX(aims, { y: 'label', x: 'aim', stroke: '#c0392b', strokeWidth: 2.5 }),
      Plot.text(ranges, {
        y: 'label',
        x: endOfMarks,
        text: (range: Range) => String(Number(range.median.toPrecision(3))),
        dx: 8,
        textAnchor: 'start',
      }),
      Plot.ruleX([0]),
    ],
  });
}
