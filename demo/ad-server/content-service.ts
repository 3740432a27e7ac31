/**
 * Texts and media of the ads, by creative, over HTTP: a small service with a configurable delay.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Creative } from './creative.ts';
import { CREATIVES_PER_REQUEST_MAX } from './creative.ts';

const LANGUAGES: Readonly<Record<string, string>> = {
  en: 'made to last, from',
  de: 'gemacht, um zu bleiben, ab',
  fr: 'fait pour durer, à partir de',
};

/**
 * Answers `GET /?creatives=creative-1,creative-2` with a JSON array of creatives.
 *
 * @param delayMs how long the service takes, without the time of the network
 */
export function contentListener(delayMs: number): RequestListener {
  return (request, response) => {
    // Read only the query of the target: the whole target may not be a valid URL, for example `//`.
    const query = (request.url ?? '').replace(/^[^?]*/, '');
    const names = new URLSearchParams(query).get('creatives')?.split(',') ?? [];
    const fits =
      names.length > 0 && names.length <= CREATIVES_PER_REQUEST_MAX && !names.includes('');
    if (request.method !== 'GET' || !fits) {
      const fix = `GET /?creatives=a,b with 1 to ${CREATIVES_PER_REQUEST_MAX} names`;
      response.writeHead(400, { 'content-type': 'text/plain' }).end(fix);
      return;
    }
    const timer = setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(JSON.stringify(names.map(creativeOf)));
    }, delayMs);
    // Stop the timer of a request that was canceled.
    response.once('close', () => clearTimeout(timer));
  };
}

/** A content service that listens. */
export interface ContentService {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the service on a free port of the loopback interface. */
export async function startContentService(delayMs: number): Promise<ContentService> {
  const server = createServer(contentListener(delayMs));
  // Only clients close idle connections: on a connection that the server closes, a request may be
  // in flight.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => closeServer(server) };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeAllConnections();
  });
}

function creativeOf(name: string): Creative {
  const number = Number(/\d+/.exec(name)?.[0] ?? 0);
  return { name, texts: LANGUAGES, media: mediaOf(number) };
}

/** Returns a small picture. Pictures with adjacent numbers differ. */
function mediaOf(number: number): string {
  const hue = (number * 137) % 360;
  const [x, y, r] = [12 + ((number * 7) % 40), 10 + ((number * 11) % 28), 8 + (number % 13)];
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 48">' +
    `<rect width="64" height="48" fill="hsl(${hue} 45% 40%)"/>` +
    `<circle cx="${x}" cy="${y}" r="${r}" fill="hsl(${(hue + 60) % 360} 70% 72%)"/></svg>`
  );
}
