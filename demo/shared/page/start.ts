/** Starts a demo's page with its sites, their data, and content at `/content`. */
import type { RequestListener } from 'node:http';
import { createClient, type AnyClient } from 'correctables';
import type { OperationRegistry } from 'correctables/contract';
import { redblue } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { startSites, type BackendOptions } from '../backend.ts';
import type { PageOptions, RunningPage } from '../speculation/cli.ts';
import { buildPage, type PageToBuild } from './build.ts';
import { pageListener } from './serve.ts';

export interface PageDemoParts {
  readonly page: PageToBuild;
  readonly contract: OperationRegistry;
  readonly service: BackendOptions['service'];
  readonly users: number;
  readonly content?: RequestListener;
  /** Loads the data, through a client beside one of the sites. */
  load(store: AnyClient): Promise<void>;
}

/** Builds the page, starts the sites, loads the data. */
export async function startPageDemo(
  options: PageOptions,
  parts: PageDemoParts,
): Promise<RunningPage> {
  const { scale, seed, wan, port } = options;
  const { contract, service, users, content } = parts;
  const files = await buildPage(parts.page);
  const about = { users, scale, seed };
  const page = pageListener({ files, about, ...(content !== undefined && { content }) });
  const sites = await startSites({ service, wan, port, page });
  const store = createClient(redblue(contract, { url: sites.siteUrl('frankfurt'), WebSocket }));
  try {
    await parts.load(store);
  } catch (error) {
    await sites.close();
    throw error;
  } finally {
    await store.close();
  }
  return { url: sites.url, close: () => sites.close() };
}
