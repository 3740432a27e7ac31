/** Fetches creatives for a server, over persistent connections. */
import { Agent } from 'node:http';
import axios from 'axios';
import { contentOver, type ContentSource } from './creative.ts';

/** The content service is local, and never redirects. */
const HTTP = { proxy: false, maxRedirects: 0, timeout: 10_000 } as const;
/**
 * The maximum number of connections. With one connection for each of thousands of requests, some
 * would time out before they are accepted.
 */
export const CONNECTIONS_MAX = 256;

/** A content source with its own connections. */
export interface ContentClient {
  readonly content: ContentSource;
  close(): void;
}

/** @param url of the content service */
export function openContent(url: string): ContentClient {
  const httpAgent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  const http = axios.create({ ...HTTP, baseURL: url, httpAgent });
  return { content: contentOver(http), close: () => httpAgent.destroy() };
}
