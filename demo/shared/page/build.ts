/** Builds the page of a demo that chases references, from the built package. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { bundlePage } from '../../page-cache/bundle.ts';
import type { PageFiles } from '../../page-cache/page-files.ts';
import { keptPage } from '../../page-cache/page-cache.ts';
import type { PageMessages } from './messages.ts';

export interface PageToBuild {
  /** What it is kept by. */
  readonly name: string;
  /** The script of the page. */
  readonly entry: URL;
  readonly words: PageMessages;
}

/** The page as it is now: bundled, unless nothing has changed since it was. */
export function buildPage({ name, entry, words }: PageToBuild): Promise<PageFiles> {
  const root = fileURLToPath(new URL('.', import.meta.url));
  const script = relative(root, fileURLToPath(entry)).replaceAll('\\', '/');
  const plugins = [fill({ ...words, script })];
  // Observable Plot brings a good part of d3; the page is served from this machine.
  return keptPage(name, () => bundlePage({ root, plugins, chunkSizeWarningLimit: 1000 }));
}

/** Puts words into the places of the template that name them: `{{title}}`. */
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
