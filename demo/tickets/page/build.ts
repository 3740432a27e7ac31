/** Builds the page into build/demo/tickets, from the built package. */
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/**
 * Bundles the page.
 *
 * @returns the folder that holds it, to be served as it is
 */
export async function buildPage(): Promise<string> {
  await build({ configFile: fileURLToPath(new URL('vite.config.ts', import.meta.url)) });
  return fileURLToPath(new URL('../../../build/demo/tickets', import.meta.url));
}
