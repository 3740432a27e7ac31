/**
 * Serves a demo's page beside its sites: the page, its `/about`, and its content, at one address.
 */
import type { RequestListener } from 'node:http';
import { fileListener, type PageFiles } from '../../page-cache/page-files.ts';
import { withPageHeaders } from '../../page-headers.ts';
import { SITES } from '../options.ts';
import type { About } from './about.ts';

export interface PageParts {
  /** The built page. */
  readonly files: PageFiles;
  readonly about: Omit<About, 'sites'>;
  /** Answers requests for `/content`. */
  readonly content?: RequestListener;
}

/** The sites of the page. By default, it is beside Frankfurt. */
const PAGE_SITES = ['frankfurt', ...SITES.filter((site) => site !== 'frankfurt')];

/** Makes the handler of all HTTP requests that are not for the sites. */
export function pageListener({ files, about, content }: PageParts): RequestListener {
  const answer = fileListener(files);
  return withPageHeaders((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0];
    if (path === '/content' && content !== undefined) content(request, response);
    else if (path === '/about') {
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(JSON.stringify({ sites: PAGE_SITES, ...about }));
    } else answer(request, response);
  });
}
