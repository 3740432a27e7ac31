/** The landing page as HTML: the same for the demos' server and for a folder of static files. */
import { toHtml, type CodeLine } from './code.ts';
import type { Break } from './page/controls.ts';
import { SEGMENT_NAMES, type SegmentKind } from './page/segments.ts';
import { WAYS, WAY_NAMES, type WayName } from './ways/ways.ts';

export interface LandingParts {
  readonly code: Readonly<Record<WayName, readonly CodeLine[]>>;
  /** The section about the other demos, as HTML. */
  readonly more: string;
  /** Returns a link to the full demo for a button, as HTML; an empty text if there is none. */
  readonly fullDemo: (what: Break) => string;
}

const ABOUT: Readonly<Record<WayName, string>> = {
  await: 'Waits for the server, twice. Right, but slow.',
  careless: 'Shows the copy as if it were certain. Fast, and sometimes wrong.',
  careful: 'Shows the copy, and holds Buy until both values are read again.',
  correctables: 'Shows the copy, and has the second read ready when the first is confirmed.',
};

const BREAKS: Readonly<Record<Break, string>> = {
  stale: 'Price changes now',
  last: 'Two buy the last one',
  cut: 'Cut the connection',
};

const DISTANCES: readonly Choice[] = ['20', '150', '800'].map((ms) => [ms, `${ms} ms`]);
const SHARES: readonly Choice[] = [
  ['0', 'none'],
  ['15', '15 %'],
  ['50', '50 %'],
];

const HERO = `<section class="hero" aria-labelledby="title">
        <p class="name">correctables</p>
        <h1 id="title">Show the answer now. Fix it if it was wrong.</h1>
        <p class="lede">A TypeScript library: one call gives you an early answer from a copy close by, then the confirmed one from far away. For prices and stock, ticket sales, feeds: with your own API and cache, Cassandra, ZooKeeper, or its own server.</p>
        <p id="headline" class="headline">Opening the same shop page four ways…</p>
        <p id="others" class="others">Customers open a product and press Buy as soon as the page allows it.</p>
      </section>`;

const WHY = `<section class="why" aria-label="Why Buy comes earlier">
        <p><b>Why Buy comes earlier.</b> The second read needs the warehouse from the first. Correctables starts it on the early answer, so both reads travel at once. If the server confirms the warehouse, the delivery is there too, even if the price has changed. If not, the delivery is read again, and Buy takes two trips.</p>
        <p><b>When it does not.</b> The others here read one after the other: two awaits, or one query that fetches both. A stale-while-revalidate page with a query for each key reads both again at once, and enables Buy as early as Correctables.</p>
      </section>`;

export function landingHtml({ code, more, fullDemo }: LandingParts): string {
  const breaks = (Object.keys(BREAKS) as Break[]).map(
    (what) =>
      `<li><button id="break-${what}" type="button">${BREAKS[what]}</button>${fullDemo(what)}</li>`,
  );
  const titles = WAY_NAMES.map((way): Choice => [way, WAYS[way].title]);
  const keys = (Object.keys(SEGMENT_NAMES) as SegmentKind[]).map(key);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Show the answer now, fix it if it was wrong · correctables</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="landing.css" />
    <script src="landing.js" defer></script>
  </head>
  <body>
    <main>
      ${HERO}
      <section class="time" aria-labelledby="time-title">
        <h2 id="time-title">The same click, in real milliseconds</h2>
        <div class="lanes">${WAY_NAMES.map(lane).join('')}
          <div id="axis" class="axis" aria-hidden="true"></div>
        </div>
        <ul class="key" aria-label="Colors of the bars">${keys.join('')}<li><span class="swatch pressed"></span>Buy is pressed</li><li><span class="swatch reads"></span>reads on their way: the offer, and the delivery, whose key is in the offer</li></ul>
      </section>
      <section class="strip" aria-label="What all four share">
        ${choices('distance', 'Distance to the server', DISTANCES, '150')}
        ${choices('share', 'Stale data', SHARES, '15')}
        <div class="actions">
          <button id="run" class="primary" type="button">Stop</button>
          <button id="once" type="button">Click once, buy yourself</button>
        </div>
        <h2 id="break-title" class="visually-hidden">Break it</h2>
        <ul class="breaks" aria-labelledby="break-title">${breaks.join('')}</ul>
      </section>
      ${WHY}
      ${choices('way', 'Shown', titles, 'correctables', 'switch')}
      <div id="shown" class="ways" data-shown="correctables">
        <div class="panes">${WAY_NAMES.map(pane).join('')}
        </div>
        <section aria-labelledby="multiples-title">
          <h2 id="multiples-title">The last twenty clicks</h2>
          <ol id="multiples" class="multiples" aria-labelledby="multiples-title"></ol>
        </section>
        <section aria-labelledby="code-title">
          <h2 id="code-title">The code that runs above</h2>
          <p class="about">Lines that are not in all four are marked.</p>
          <div class="codes">${WAY_NAMES.map((way) => codePane(way, code[way])).join('')}
          </div>
        </section>
      </div>
      ${more}
    </main>
    <p id="spoken" class="visually-hidden" role="status"></p>
    <noscript><p>This page measures with JavaScript: switch it on and load the page again.</p></noscript>
  </body>
</html>
`;
}

type Choice = readonly [value: string, label: string];

function choices(
  name: string,
  legend: string,
  options: readonly Choice[],
  checked: string,
  kind = '',
): string {
  const labels = options.map(
    ([value, label]) =>
      `<label><input type="radio" name="${name}" value="${value}"${value === checked ? ' checked' : ''} /><span>${label}</span></label>`,
  );
  return `<fieldset class="choice ${kind}"><legend>${legend}</legend><div>${labels.join('')}</div></fieldset>`;
}

function pane(way: WayName): string {
  const { title } = WAYS[way];
  return `
        <section id="${way}-pane" class="pane ${way}" data-state="waiting" aria-labelledby="${way}-title">
          <h2 id="${way}-title">${title}</h2>
          <p class="about">${ABOUT[way]}</p>
          <dl class="watch">
            <div><dt>shown</dt><dd id="${way}-shown">–</dd></div>
            <div><dt>Buy enabled</dt><dd id="${way}-enabled">–</dd></div>
            <div><dt>wrong sales</dt><dd id="${way}-wrong" title="Clicks in which “Yours” came at a wrong price, was taken back, or sold nothing">–</dd></div>
          </dl>
          <div class="goods">
            <h3>${PICTURE}Sunglasses</h3>
            <p class="price"><s id="${way}-old"></s><b id="${way}-price"></b><span id="${way}-mark" class="mark"></span></p>
            <p class="delivery"><span id="${way}-delivery"></span></p>
            <p class="left"><span id="${way}-left"></span></p>
            <button id="${way}-buy" class="buy" type="button" aria-disabled="true">Buy</button>
            <p id="${way}-answer" class="answer"></p>
          </div>
          <p id="${way}-outcome" class="outcome"></p>
        </section>`;
}

function codePane(way: WayName, code: readonly CodeLine[]): string {
  const { title } = WAYS[way];
  const lines = code.map(
    ({ text, differs }) =>
      `<span class="line${differs ? ' differs' : ''}">${toHtml(text)}\n</span>`,
  );
  return `
          <div class="code ${way}">
            <h3 id="${way}-code-title">${title}</h3>
            <button id="${way}-copy" class="copy" type="button" aria-label="Copy the code: ${title}">Copy</button>
            <pre tabindex="0" aria-label="Code: ${title}"><code id="${way}-code">${lines.join('')}</code></pre>
          </div>`;
}

function lane(way: WayName): string {
  return `
          <p class="who">${WAYS[way].title}</p>
          <div id="${way}-track" class="track" aria-hidden="true"></div>`;
}

function key(kind: SegmentKind): string {
  return `<li><span class="swatch ${kind}"></span>${SEGMENT_NAMES[kind]}</li>`;
}

const PICTURE = `<svg viewBox="0 0 96 48" aria-hidden="true" class="picture"><path d="M6 16h84" /><path d="M10 16c0 14 4 22 16 22s17-8 18-22zM52 16c1 14 6 22 18 22s16-8 16-22z" class="glass" /></svg>`;
