/** Serves the pages of `docs` and the sources of the demos as text, for the links of the demos' pages. */
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';

const ROOT = new URL('../../', import.meta.url);
/** Paths of a checkout that the server answers. No part of them begins with a dot. */
const READABLE =
  /^\/(?:README\.md|docs\/(?:[\w-]+\/)*[\w-]+\.md|(?:demo|engines)\/(?:[\w-]+\/)*[\w-]+\.(?:ts|css|html))$/;

/** Answers with a file of the checkout. @returns false if the server does not answer the path, or if there is no such file */
export async function answerCheckoutFile(path: string, response: ServerResponse): Promise<boolean> {
  if (!READABLE.test(path)) return false;
  try {
    const body = await readFile(new URL(`.${path}`, ROOT));
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }).end(body);
    return true;
  } catch {
    return false;
  }
}
