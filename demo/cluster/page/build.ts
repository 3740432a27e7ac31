/** Builds the ticket shop's page with a section for the sites of the cluster. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { bundlePage } from '../../page-cache/bundle.ts';
import { keptPage } from '../../page-cache/page-cache.ts';
import type { PageFiles } from '../../page-cache/page-files.ts';

/**
 * The texts that are inserted into the shop's page, and the places before which they are inserted.
 */
const SCRIPT = '<script type="module" src="./main.ts"></script>';
const OWN_SCRIPT = '<script type="module" src="../../cluster/page/main.ts"></script>';
const OWN_STYLE = '<link rel="stylesheet" href="../../cluster/page/style.css" />';
const MAIN = '<main id="shop">';
const TITLE = 'Ticket shop';

export function buildClusterPage(): Promise<PageFiles> {
  const root = fileURLToPath(new URL('../../tickets/page', import.meta.url));
  return keptPage('cluster', async () => {
    const section = await readFile(new URL('section.html', import.meta.url), 'utf8');
    return bundlePage({ root, plugins: [insert(section)] });
  });
}

function insert(section: string): Plugin {
  return {
    name: 'cluster-section',
    transformIndexHtml: {
      order: 'pre',
      handler(html) {
        if (!html.includes(SCRIPT) || !html.includes(MAIN))
          throw new Error('the page of the ticket shop has changed');
        return html
          .replaceAll(TITLE, 'Three processes')
          .replace(SCRIPT, `${OWN_STYLE}${OWN_SCRIPT}`)
          .replace(MAIN, `${section}${MAIN}`);
      },
    },
  };
}
