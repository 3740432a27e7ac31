/** A page of one script, bundled for the browser and served to it without a server. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { BrowserContext, Page } from 'playwright-core';

/** Bundles a module of test/e2e. `alias` has other packages to bundle in place of some. */
export async function bundlePage(
  file: string,
  alias: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../${file}`, import.meta.url))],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    alias,
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

/** A page, and what went wrong in it. */
export interface OpenPage {
  readonly page: Page;
  readonly errors: string[];
}

/** Opens the script as a page with an element `#root`. */
export async function openPage(context: BrowserContext, script: string): Promise<OpenPage> {
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  const body = `<div id="root"></div><script type="module">${script.replaceAll('</script', '<\\/script')}</script>`;
  const html = `<!doctype html><html lang="en"><title>page</title>${body}`;
  await page.route('https://page.test/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: html }),
  );
  await page.goto('https://page.test/');
  return { page, errors };
}
