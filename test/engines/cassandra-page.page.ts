/**
 * What the page of the Cassandra browser test runs: the catalogue of a gateway, over the browser's
 * own WebSocket.
 */
import { remote } from '../../src/bindings/remote/index.ts';
import { createClient, type AnyView } from '../../src/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { shop } from './support/cassandra-shop-contract.ts';

/** One view, as the page saw it. */
export interface ConfirmableView {
  readonly level: string;
  readonly final: boolean;
  readonly confirms: boolean;
  readonly value: unknown;
}

/** What happened on the page. */
export interface Visit {
  readonly prices: readonly ConfirmableView[];
  readonly note: readonly ConfirmableView[];
  readonly refused: readonly string[];
}

async function visit(url: string): Promise<Visit> {
  const client = createClient(remote({ url, levels: ['weak', 'strong'], contract: shop }));
  const collectViews = async (views: AsyncIterable<AnyView>): Promise<ConfirmableView[]> => {
    const seen: ConfirmableView[] = [];
    for await (const { level, final, confirms, value } of views)
      seen.push({ level, final, confirms, value });
    return seen;
  };
  await client.invoke(shop.setPrice({ item: 'tea', cents: 250 }));
  await client.invoke(put('note', { by: 'page' }));
  const codeOf = (error: unknown): string => (error as { code: string }).code;
  const refused = await Promise.all([
    client.invoke(shop.setPrice({ item: 'tea', cents: 1.5 })).catch(codeOf),
    client
      .invoke({ name: 'query', args: { cql: 'DROP TABLE prices' }, access: 'write' })
      .catch(codeOf),
    client.invoke(shop.clear({})).catch(codeOf),
  ]);
  const result: Visit = {
    prices: await collectViews(client.invoke(shop.price({ item: 'tea' }))),
    note: await collectViews(client.invoke(get('note'))),
    refused: refused.map(String),
  };
  await client.close();
  return result;
}

Object.assign(globalThis, { visit });
