/** Builds the page from the built package. */
import { fileURLToPath } from 'node:url';
import { bundlePage } from '../../built-page/bundle.ts';
import type { PageFiles } from '../../built-page/files.ts';
import { keptPage } from '../../built-page/kept.ts';

/** The page as it is now: bundled, unless nothing has changed since it was. */
export function buildPage(): Promise<PageFiles> {
  const root = fileURLToPath(new URL('.', import.meta.url));
  return keptPage('tickets', () => bundlePage({ root }));
}
