/**
 * Shows the same product by each way of reading it. Each way counts how often its component
 * renders.
 */
import { useQuery } from '@tanstack/react-query';
import type { Client } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { useCorrectable } from 'correctables/react';
import { createElement, use, type ReactNode } from 'react';
import { shop } from './contract.ts';
import type { Way } from './ways.ts';

export type ShopClient = Client<RedBlueLevels, true>;

interface ProductProps {
  readonly client: ShopClient;
  readonly product: string;
}

interface Product {
  readonly left: number;
}

/** How often the component of a product has rendered. */
export const renders = { count: 0 };

function show(product: Product | undefined): ReactNode {
  return createElement('p', null, product === undefined ? 'loading' : `${product.left} left`);
}

/** One read with all its views. The component suspends until the first view. */
function Correctable({ client, product }: ProductProps): ReactNode {
  renders.count += 1;
  const { value } = useCorrectable(shop.show({ product }), { client });
  return show(value);
}

/** The same, but the component renders before it has a view. */
function WithoutSuspense({ client, product }: ProductProps): ReactNode {
  renders.count += 1;
  const { value } = useCorrectable(shop.show({ product }), { client, suspend: false });
  return show(value);
}

/** Two reads: one at the nearest site, and one at the strongest level. */
function TwoQueries({ client, product }: ProductProps): ReactNode {
  renders.count += 1;
  const operation = shop.show({ product });
  const stale = useQuery({
    queryKey: ['stale', product],
    queryFn: async () => await client.invokeWeak(operation),
  });
  const fresh = useQuery({
    queryKey: ['fresh', product],
    queryFn: async () => await client.invokeStrong(operation),
  });
  return show(fresh.data ?? stale.data);
}

const finals = new Map<string, Promise<Product>>();

/** One read of the final value, by React alone. */
function Use({ client, product }: ProductProps): ReactNode {
  renders.count += 1;
  const final = finals.get(product) ?? Promise.resolve(client.invokeStrong(shop.show({ product })));
  finals.set(product, final);
  return show(use(final));
}

export const WAYS: Readonly<Record<Way, (properties: ProductProps) => ReactNode>> = {
  useCorrectable: Correctable,
  'useCorrectable, suspend: false': WithoutSuspense,
  'two queries': TwoQueries,
  use: Use,
  'useCorrectable, prefetched': Correctable,
};
