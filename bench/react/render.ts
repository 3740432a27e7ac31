/** Products that a server has rendered, with their final view. */
import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { dehydrate, prefetch, type DehydratedState } from 'correctables/react';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { WebSocket } from 'ws';
import { WAYS } from './components.ts';
import { shop } from './contract.ts';

export interface RenderedProduct {
  readonly product: string;
  readonly html: string;
  readonly state: DehydratedState;
}

/** Renders `count` pages, each with a separate client, as a server does. */
export async function renderProducts(
  url: string,
  count: number,
): Promise<readonly RenderedProduct[]> {
  const pages: RenderedProduct[] = [];
  for (let n = 0; n < count; n += 1) {
    const client = createClient(redblue(shop, { url, WebSocket }));
    const product = `rendered ${n}`;
    await prefetch(client, shop.show({ product }), { until: 'strong' });
    const html = renderToString(createElement(WAYS.useCorrectable, { client, product }));
    pages.push({ product, html, state: structuredClone(dehydrate(client)) });
    await client.close();
  }
  return pages;
}
