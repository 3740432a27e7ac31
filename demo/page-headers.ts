/**
 * The headers of every answer of a demo's server: the browser may run and load only what comes from
 * this server.
 */
import type { RequestListener, ServerResponse } from 'node:http';

/** The style sheet that Observable Plot puts into each of its charts: it is the same every time. */
const PLOT_STYLE = "'sha256-jSYQUrW7J0b3jPqhZP9C2Xh1PyJKHKXd4s0fpGGKrww='";

/** The policy also allows pictures as data URLs. The sites listen at the page's own address. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' ${PLOT_STYLE}`,
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Sets the headers. Call it before the head of the answer is written. */
export function setPageHeaders(response: ServerResponse): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
}

/** Returns a listener that adds these headers to its answers. */
export function withPageHeaders(listener: RequestListener): RequestListener {
  return (request, response) => {
    setPageHeaders(response);
    listener(request, response);
  };
}
