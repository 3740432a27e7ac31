/** Builds the page from the built package. */
import { fileURLToPath } from 'node:url';
import { bundlePage } from '../../page-cache/bundle.ts';
import { keptPage } from '../../page-cache/page-cache.ts';
import type { PageFiles } from '../../page-cache/page-files.ts';

/** Returns the page, which is bundled again only if a file has changed. */
export function buildPage(): Promise<PageFiles> {
  const root = fileURLToPath(new URL('.', import.meta.url));
  return keptPage('social', () => bundlePage({ root }));
}
