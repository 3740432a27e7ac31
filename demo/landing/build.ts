/** Builds the script and the style of the landing page, from the built package. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleScript } from '../page-cache/bundle-script.ts';
import type { PageFiles } from '../page-cache/page-files.ts';
import { readCode } from './code.ts';
import { landingHtml, type LandingParts } from './html.ts';

/** Script and style, and what makes the page: it changes while its server runs. */
export async function buildLanding(): Promise<{
  readonly assets: PageFiles;
  readonly html: (parts: Omit<LandingParts, 'code'>) => string;
}> {
  const [script, style, code] = await Promise.all([
    bundleScript(fileURLToPath(new URL('page/main.ts', import.meta.url)), 'iife'),
    readFile(new URL('style.css', import.meta.url)),
    readCode(),
  ]);
  const assets = new Map([
    ['landing.js', script],
    ['landing.css', style],
  ]);
  return { assets, html: (parts) => landingHtml({ code, ...parts }) };
}
