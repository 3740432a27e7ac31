/** Builds the page from the built package. */
import { fileURLToPath } from 'node:url';
import { bundlePage } from '../../page-cache/bundle.ts';
import { keptPage } from '../../page-cache/page-cache.ts';
import type { PageFiles } from '../../page-cache/page-files.ts';

/** The page as it is now: bundled, unless nothing has changed since it was. */
export function buildPage(): Promise<PageFiles> {
  const root = fileURLToPath(new URL('.', import.meta.url));
  return keptPage('news', () => bundlePage({ root }));
}
