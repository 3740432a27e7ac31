/** Plots as SVG text, drawn by Observable Plot on a small DOM. */
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';

/**
 * Each color in its light and its dark form. Attributes contain the light form itself, so that
 * programs without style sheets show it too. The style sheet replaces it for readers who prefer
 * dark pages: a picture does not inherit the colors of its page.
 */
const COLORS = {
  back: { light: '#ffffff', dark: '#14171a' },
  ink: { light: '#1b1f24', dark: '#e6e8ea' },
  rule: { light: '#d8dce0', dark: '#39414a' },
  grey: { light: '#6b747e', dark: '#a3acb5' },
  blue: { light: '#1f6fc4', dark: '#6fb1f5' },
  red: { light: '#c0392b', dark: '#ff8a7a' },
  orange: { light: '#b45309', dark: '#f2a65a' },
  green: { light: '#1f7a5c', dark: '#5cc9a3' },
  violet: { light: '#7b4fb0', dark: '#c3a2ee' },
} as const;

const replaceColor = ({ light, dark }: { readonly light: string; readonly dark: string }): string =>
  ['fill', 'stroke'].map((name) => `  [${name}="${light}"] { ${name}: ${dark}; }`).join('\n');

const STYLE = `
svg { background: ${COLORS.back.light}; color: ${COLORS.ink.light}; font-family: system-ui, sans-serif; font-size: 12px; }
@media (prefers-color-scheme: dark) {
  svg { background: ${COLORS.back.dark}; color: ${COLORS.ink.dark}; }
${Object.values(COLORS).map(replaceColor).join('\n')}
}
`;

export const BLUE = COLORS.blue.light;
export const RED = COLORS.red.light;
export const GREY = COLORS.grey.light;
export const ORANGE = COLORS.orange.light;
export const GREEN = COLORS.green.light;
export const VIOLET = COLORS.violet.light;
export const INK = COLORS.ink.light;
export const RULE = COLORS.rule.light;
/** The color behind text that overlaps lines. */
export const BACK = COLORS.back.light;

/** Labels of axes are beside them: at the top they would overlap the text above the plot. */
export const BESIDE = { labelAnchor: 'center', labelArrow: 'none' } as const;

/** The texts of a plot. */
export interface Texts {
  /** The finding, as a sentence with its figures. */
  readonly title: string;
  /** What was measured, and how to read the marks. */
  readonly note: string;
  /** A description of the plot, for the appendix and for readers who cannot see it. */
  readonly see: string;
}

/** A plot that is drawn. */
export interface Figure extends Pick<Texts, 'title' | 'see'> {
  /** A self-contained document. */
  readonly svg: string;
}

/** The plots of a result, by file name without ending. */
export type Drawn = Readonly<Record<string, Figure>>;

const EDGE_PX = 16;
const TITLE = { 'font-size': '15', 'font-weight': '600', fill: INK };
const NOTE = { 'font-size': '12', fill: GREY };
const TITLE_LETTER_PX = 8.8;
const NOTE_LETTER_PX = 6.8;
const LINE_PX = 19;

/** Draws a plot below its title and note. `options.marginTop` is the space below these. */
export function figure(
  { title, note, see }: Texts,
  options: Plot.PlotOptions & { readonly width: number },
): Figure {
  const { document } = parseHTML('<html><body></body></html>');
  const room = options.width - 2 * EDGE_PX;
  const lines = [
    ...wrap(title, room / TITLE_LETTER_PX).map((text) => ({ text, look: TITLE })),
    ...wrap(note, room / NOTE_LETTER_PX).map((text) => ({ text, look: NOTE })),
  ];
  const above = LINE_PX * lines.length + 12;
  const plot = Plot.plot({
    marginBottom: 44,
    ...options,
    height: (options.height ?? 400) + above,
    marginTop: above + (options.marginTop ?? 8),
    document,
  });
  const svg = plot.tagName.toLowerCase() === 'svg' ? plot : plot.querySelector('svg');
  if (svg === null) throw new Error(`the plot "${title}" drew no SVG`);
  const add = (
    name: string,
    text: string,
    attributes: Readonly<Record<string, string>> = {},
  ): Element => {
    const part = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
    part.textContent = text;
    return part;
  };
  lines.forEach(({ text, look }, at) =>
    svg.append(
      add('text', text, {
        x: String(EDGE_PX),
        y: String(LINE_PX * (at + 1) + 4),
        'text-anchor': 'start',
        ...look,
      }),
    ),
  );
  const backdrop = add('rect', '', { width: '100%', height: '100%', fill: BACK });
  svg.prepend(add('title', title), add('desc', `${note} ${see}`), add('style', STYLE), backdrop);
  for (const group of svg.querySelectorAll('g')) joinDots(group);
  svg.setAttribute('role', 'img');
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return { title, see, svg: `${svg.outerHTML}\n` };
}

/**
 * If there are more dots of one color and size than this, they are drawn as one path, which takes a
 * fifth of the bytes.
 */
const DOTS_MAX = 200;

function joinDots(group: Element): void {
  const dots = [...group.querySelectorAll('circle')];
  const [first] = dots;
  if (first === undefined || dots.length <= DOTS_MAX) return;
  const path = group.ownerDocument.createElementNS('http://www.w3.org/2000/svg', 'path');
  const at = (dot: Element, name: string): string => Number(dot.getAttribute(name)).toFixed(1);
  path.setAttribute('d', dots.map((dot) => `M${at(dot, 'cx')} ${at(dot, 'cy')}h0`).join(''));
  path.setAttribute('stroke', group.getAttribute('fill') ?? INK);
  path.setAttribute('stroke-width', String(2 * Number(first.getAttribute('r'))));
  path.setAttribute('stroke-linecap', 'round');
  for (const dot of dots) dot.remove();
  group.append(path);
}

/** Breaks a text between words into lines of at most `letters` letters. */
function wrap(text: string, letters: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= letters)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** The ticks of each decade. A short axis gets more of them. */
const STEPS = [1, 2, 5];
const FINE_STEPS = [1, 1.5, 2, 3, 4, 5, 7];
const FINEST_STEPS = [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9];
const [FINE_MAX, FINEST_MAX] = [12, 2.5];

/** Returns the ticks of a logarithmic axis: 1, 2, 5, 10, 20, 50, … between both ends. */
export function logTicks(low: number, high: number): number[] {
  const ratio = high / low;
  const steps = ratio < FINEST_MAX ? FINEST_STEPS : ratio < FINE_MAX ? FINE_STEPS : STEPS;
  const first = Math.floor(Math.log10(low));
  const decades = Array.from(
    { length: Math.ceil(Math.log10(high)) - first + 1 },
    (_, n) => 10 ** (first + n),
  );
  const all = decades.flatMap((decade) =>
    steps.map((step) => Number((decade * step).toPrecision(3))),
  );
  return all.filter((tick) => tick >= low && tick <= high);
}

const formatTick = (tick: number): string =>
  tick.toLocaleString('en', { maximumSignificantDigits: 3 });

/** Returns a logarithmic axis with labels at all its ticks. Plot itself leaves some out. */
export function logAxis(axis: 'x' | 'y', ticks: readonly number[], label: string): Plot.Markish[] {
  const options = { label, labelAnchor: 'center', labelArrow: 'none', text: formatTick } as const;
  return axis === 'x'
    ? [Plot.gridX([...ticks]), Plot.axisX([...ticks], options)]
    : [Plot.gridY([...ticks]), Plot.axisY([...ticks], { ...options, labelOffset: 70 })];
}

/** The name of a site in a sentence: "Ireland" for `ireland`. */
export const capitalize = (name: string): string =>
  name.replace(/^./, (letter) => letter.toUpperCase());

/** Formats a figure for a sentence: three digits, without trailing zeros. */
export function short(figure: number): string {
  return new Intl.NumberFormat('en', { maximumSignificantDigits: figure >= 10 ? 3 : 2 }).format(
    figure,
  );
}
