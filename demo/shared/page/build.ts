/** Builds the page of a demo that chases references into build/demo/, from the built package. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import type { Words } from './words.ts';

export interface PageToBuild {
  /** Names the folder in build/demo. */
  readonly name: string;
  /** The script of the page. */
  readonly entry: URL;
  readonly words: Words;
}

/**
 * Bundles a page.
 *
 * @returns the folder that holds it, to be served as it is
 */
export async function buildPage({ name, entry, words }: PageToBuild): Promise<string> {
  const root = fileURLToPath(new URL('.', import.meta.url));
  const outDir = fileURLToPath(new URL(`../../../build/demo/${name}`, import.meta.url));
  const script = relative(root, fileURLToPath(entry)).replaceAll('\\', '/');
  await build({
    configFile: false,
    root,
    base: './',
    logLevel: 'warn',
    plugins: [fill({ ...words, script })],
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: { polyfill: false },
      // Observable Plot brings a good part of d3; the page is served from this machine.
      chunkSizeWarningLimit: 1000,
    },
  });
  return outDir;
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
