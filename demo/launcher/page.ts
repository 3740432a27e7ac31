/**
 * Creates the parts that the launcher adds to pages: the cards of the start page, links on the page
 * of each demo, and error pages.
 */
import type { Demo } from './demos.ts';

/**
 * The shop is an example with a project of its own, so the start page has its command instead of a
 * link.
 */
const REACT_SHOP_CARD = `
          <li>
            <div class="card">
              <h3>Ticket shop in React</h3>
              <p>A shop as you would write it. It answers on the early view while plenty of tickets are left, and the last ones wait for the confirmed one. It installs this package into a project of its own, so start it in a terminal.</p>
              <p class="quiet"><code>npm run example -- react-shop</code></p>
            </div>
          </li>`;

/** The demos, as the start page offers them after the landing demo. */
export function demoCards(demos: readonly Demo[], isOpen: (demo: Demo) => boolean): string {
  const cards = demos.map(
    (demo) => `
          <li>
            <a class="card" href="${addressOf(demo)}">
              <h3>${text(demo.title)}</h3>
              <p>${text(demo.about)}</p>
              <p class="quiet">After ${text(demo.paper)}${isOpen(demo) ? ' · running' : ''}</p>
            </a>
          </li>`,
  );
  return `<section class="more" aria-labelledby="more-title">
        <h2 id="more-title">See it on three sites</h2>
        <p class="quiet">Sites such as Ireland, Frankfurt and Virginia, with the delays of a wide area between them, all on this machine. A demo starts when it is first opened, which takes a few seconds.</p>
        <ul class="cards">${REACT_SHOP_CARD}${cards.join('')}
        </ul>
      </section>`;
}

/** Links to all demos, and to the documentation and the source of the page that is shown. */
export function demoLinks(demos: readonly Demo[], shown?: Demo): string {
  const links = demos.map(
    (demo) =>
      `<a href="${addressOf(demo)}"${demo === shown ? ' aria-current="page"' : ''}>${text(demo.title)}</a>`,
  );
  const { docs = '/docs/start/concepts.md', source = '/demo/landing/ways/correctables.ts' } =
    shown ?? {};
  return `<nav class="demo-links" aria-label="Demos">${shown === undefined ? '' : '<a href="/"><b>correctables</b></a>'}${links.join('')}<a href="${docs}">Docs</a><a href="${source}">Source</a></nav>`;
}

/** Puts the links on top of the page of a demo, and its code at the end. */
export function withDemoLinks(html: string, links: string, code = ''): string {
  return html
    .replace('</head>', '<link rel="stylesheet" href="/demo-links.css" /></head>')
    .replace(/<body[^>]*>/, (body) => `${body}${links}`)
    .replace('</main>', () => `</main>${code}`);
}

/** Returns the address of a demo on the start page's server. */
export function addressOf({ name }: Demo): string {
  return `/${encodeURIComponent(name)}/`;
}

/** The page that explains why a demo did not start. */
export function failurePage(demo: Demo, failure: unknown): string {
  const reason = failure instanceof Error ? failure.message : String(failure);
  return page(
    `${demo.title} did not start`,
    `
    <main class="failure">
      <div role="alert">
        <h1>${text(demo.title)} did not start</h1>
        <p>${text(reason)}</p>
      </div>
      <p><a href="${addressOf(demo)}">Try again</a> or <a href="/">go back</a>.</p>
    </main>`,
  );
}

/**
 * The page that is shown while a demo starts. The browser loads it again until the demo is there.
 */
export function startingPage(demo: Demo, forMs: number): string {
  return page(
    `${demo.title} is starting`,
    `
    <main class="starting">
      <div role="status">
        <h1>${text(demo.title)} is starting…</h1>
        <p>It builds its page and starts its sites on this machine, for ${(forMs / 1000).toFixed(0)} s so far. The first start takes longest. This page goes on by itself.</p>
      </div>
      <p class="quiet">${text(demo.about)}</p>
      <p><a href="/">Back to the start page</a></p>
    </main>`,
  );
}

/** The page for an unknown address. */
export function nowherePage(): string {
  return page(
    'Not here',
    '\n    <main><h1>There is nothing here</h1><p><a href="/">To the demos</a></p></main>',
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${text(title)} · correctables</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="/landing.css" />
  </head>
  <body>${body}
  </body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function text(plain: string): string {
  return plain.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] as string);
}
