/** The start page and its error page, as HTML. */
import type { Demo } from './demos.ts';

/** The page that offers the demos. */
export function startPage(demos: readonly Demo[], isOpen: (demo: Demo) => boolean): string {
  const cards = demos.map(
    (demo) => `
      <li>
        <a class="card" href="/open/${encodeURIComponent(demo.name)}">
          <h2>${text(demo.title)}</h2>
          <p>${text(demo.about)}</p>
          <p class="quiet">After ${text(demo.paper)}${isOpen(demo) ? ' · running' : ''}</p>
        </a>
      </li>`,
  );
  return page(
    'Demos',
    `
    <header>
      <h1>correctables</h1>
      <p class="quiet">One result, several views: an early one, perhaps stale, and the final one that confirms or corrects it. Each demo runs against three sites with the delays of a wide area between them, all on this machine.</p>
    </header>
    <main>
      <section class="views" aria-labelledby="views">
        <h2 id="views">Two reads, two views each</h2>
        <p>A copy close by answers first, the shop itself from far away. The copy has not heard yet that sunglasses have become cheaper.</p>
        <div class="reads" aria-live="polite">${read('umbrella')}${read('sunglasses')}
        </div>
        <button id="again" type="button" disabled>Read again</button>
      </section>
      <ul>${cards.join('')}
      </ul>
    </main>
    <footer class="quiet"><p>A demo starts when it is first opened, which takes a few seconds. Ctrl-C in the terminal closes them all.</p></footer>
    <script type="module" src="/views.js"></script>`,
  );
}

/** A read, in which `views.ts` shows what arrives. */
function read(name: string): string {
  return `
          <article class="read" id="${name}" data-state="asked">
            <h3><code>get('${name}')</code></h3>
            <p><span class="quiet">early</span> <b class="early" id="${name}-weak">…</b></p>
            <p><span class="quiet">final</span> <b id="${name}-strong">…</b></p>
            <p class="verdict" id="${name}-verdict">asked</p>
          </article>`;
}

/** The page that says why a demo did not start. */
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
      <p><a href="/open/${encodeURIComponent(demo.name)}">Try again</a> or <a href="/">go back</a>.</p>
    </main>`,
  );
}

/** The page for an address that leads nowhere. */
export function nowherePage(): string {
  return page('Not here', '\n    <main><h1>There is nothing here</h1><p><a href="/">To the demos</a></p></main>');
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
    <link rel="stylesheet" href="/style.css" />
  </head>
  <body>${body}
  </body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function text(plain: string): string {
  return plain.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] as string);
}
