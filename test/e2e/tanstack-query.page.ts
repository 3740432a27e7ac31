/**
 * The page of the browser test of `correctables/tanstack-query`: a shop whose store answers after
 * some time.
 */
import {
  QueryClient,
  QueryClientProvider,
  useQuery,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { createElement, StrictMode, Suspense, useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { tiered } from '../../src/bindings/tiered/index.ts';
import { createClient } from '../../src/index.ts';
import { get } from '../../src/operations/index.ts';
import { correctableQuery } from '../../src/tanstack-query/index.ts';

const submitted: string[] = [];
const lines: string[] = [];

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const STOCK: Readonly<Record<string, number>> = {
  'stock:alpha': 1,
  'stock:beta': 2,
  'stock:gamma': 3,
};

const store = createClient(
  tiered(['weak', 'strong'], {
    weak: async ({ key = '' }) => {
      submitted.push(key);
      await delay(10);
      return (STOCK[key] ?? 0) + 10;
    },
    strong: async ({ key = '' }) => {
      await delay(200);
      return STOCK[key];
    },
  }),
);
const queryClient = new QueryClient();

function Stock({ book }: { readonly book: string }): ReactNode {
  const { data, isFetching, error } = useQuery(
    correctableQuery(store, get<number>(`stock:${book}`)),
  );
  const line = `${book} ${data === undefined ? 'loading' : `${data.value} ${data.level}`}${isFetching ? ' …' : ''}${error?.code ?? ''}`;
  if (line !== lines.at(-1)) lines.push(line);
  return createElement('p', { id: 'stock' }, line);
}

function SuspendedStock(): ReactNode {
  const { data } = useSuspenseQuery(correctableQuery(store, get<number>('stock:gamma')));
  return createElement('p', { id: 'suspended' }, `${data.value} ${data.level}`);
}

function Shop(): ReactNode {
  const [book, setBook] = useState<string>();
  const buttons = ['alpha', 'beta', 'none'].map((name) =>
    createElement(
      'button',
      { key: name, id: name, onClick: () => setBook(name === 'none' ? undefined : name) },
      name,
    ),
  );
  const [isSuspended, setSuspended] = useState(false);
  const suspend = createElement(
    'button',
    { id: 'suspend', onClick: () => setSuspended(true) },
    'suspend',
  );
  return createElement(
    'main',
    null,
    buttons,
    suspend,
    book === undefined ? null : createElement(Stock, { book }),
    isSuspended &&
      createElement(
        Suspense,
        { fallback: createElement('p', null, 'waiting') },
        createElement(SuspendedStock),
      ),
  );
}

createRoot(document.querySelector('#root')!).render(
  createElement(
    StrictMode,
    null,
    createElement(QueryClientProvider, { client: queryClient }, createElement(Shop)),
  ),
);
Object.assign(globalThis, {
  submitted,
  lines,
  invalidate: () => void queryClient.invalidateQueries(),
});
