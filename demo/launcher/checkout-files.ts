/**
 * Serves the documentation and the sources of the demos, for the links of the demos' pages. The
 * documentation is the site if that has been built (`npm run docs:build`), otherwise its pages are
 * text.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { OUTPUT } from '../../site/folders.ts';
import { BASE, createSiteListener } from '../../site/static-files.ts';

const ROOT = new URL('../../', import.meta.url);
/** Paths of a checkout that the server answers. No part of them begins with a dot. */
const READABLE =
  /^\/(?:README\.md|docs\/(?:[\w-]+\/)*[\w-]+\.md|(?:demo|engines)\/(?:[\w-]+\/)*[\w-]+\.(?:ts|css|html))$/;

const answerFromSite = createSiteListener(OUTPUT);

/**
 * Answers with a page of the site, if that has been built. Links of demos name the Markdown of a
 * page.
 */
export function answerSitePage(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (!path.startsWith(BASE) || !existsSync(OUTPUT)) return false;
  if (path.endsWith('.md'))
    response.writeHead(302, { location: path.replace(/\.md$/, '.html') }).end();
  else answerFromSite(request, response);
  return true;
}

/**
 * Answers with a file of the checkout. @returns false if the server does not answer the path, or if
 * there is no such file
 */
export async function answerCheckoutFile(path: string, response: ServerResponse): Promise<boolean> {
  if (!READABLE.test(path)) return false;
  try {
    const body = await readFile(new URL(`.${path}`, ROOT));
    response
      .writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
      .end(body);
    return true;
  } catch {
    return false;
  }
}
