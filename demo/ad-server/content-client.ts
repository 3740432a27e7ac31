/** Creatives for a server: over connections that stay, as many as a service next door needs. */
import { Agent } from 'node:http';
import axios from 'axios';
import { contentOver, type ContentSource } from './creative.ts';

/** The content service is next door, and never sends anybody elsewhere. */
const HTTP = { proxy: false, maxRedirects: 0, timeout: 10_000 } as const;
/** With one connection for each of thousands of requests, some wait for longer than their time to be accepted. */
export const CONNECTIONS_MAX = 256;

/** A source with connections of its own. */
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
