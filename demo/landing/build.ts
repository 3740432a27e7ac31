/** Builds the script and the style of the landing page, from the built package. */
import type { PageFiles } from '../page-cache/page-files.ts';
import { bundleFile } from '../page-cache/small-page.ts';
import { readCode } from './code.ts';
import { landingHtml, type LandingParts } from './html.ts';

/**
 * Returns the script and the style sheet, and a function that renders the page, because its links
 * change while the server runs.
 */
export async function buildLanding(): Promise<{
  readonly assets: PageFiles;
  readonly html: (parts: Omit<LandingParts, 'code'>) => string;
}> {
  const [script, style, code] = await Promise.all([
    bundleFile(new URL('page/main.ts', import.meta.url), 'iife'),
    bundleFile(new URL('style.css', import.meta.url)),
    readCode(),
  ]);
  const assets = new Map([
    ['landing.js', script],
    ['landing.css', style],
  ]);
  return { assets, html: (parts) => landingHtml({ code, ...parts }) };
}
