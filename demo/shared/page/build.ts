/** Builds the page of a demo that follows references, from the built package. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { bundlePage } from '../../page-cache/bundle.ts';
import type { PageFiles } from '../../page-cache/page-files.ts';
import { keptPage } from '../../page-cache/page-cache.ts';
import type { PageMessages } from './messages.ts';

export interface PageToBuild {
  /** The name under which the page is stored. */
  readonly name: string;
  /** The script of the page. */
  readonly entry: URL;
  readonly words: PageMessages;
}

/** Returns the page, which is bundled again only if a file has changed. */
export function buildPage({ name, entry, words }: PageToBuild): Promise<PageFiles> {
  const root = fileURLToPath(new URL('.', import.meta.url));
  const script = relative(root, fileURLToPath(entry)).replaceAll('\\', '/');
  const plugins = [fill({ ...words, script })];
  // Allow a large script: Observable Plot contains much of d3, and the page is served from this
  // machine.
  return keptPage(name, () => bundlePage({ root, plugins, chunkSizeWarningLimit: 1000 }));
}

/** Replaces placeholders of the template, such as `{{title}}`, by texts. */
function fill(words: Readonly<Record<string, string>>): Plugin {
  return {
    name: 'fill-template',
    transformIndexHtml: {
      order: 'pre',
      handler: (html) =>
        html.replaceAll(/\{\{(\w+)\}\}/g, (place, name: string) => {
          const word = words[name];
          if (word === undefined) throw new Error(`index.html: no word for ${place}`);
          return word;
        }),
    },
  };
}
