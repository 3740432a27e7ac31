/** Shows the cached value, then that of the API, and writes. */
import { createClient } from 'correctables';
import { tiered } from 'correctables/bindings/tiered';
import { get, put } from 'correctables/operations';
import { CorrectablesProvider, useCorrectable, useOperation } from 'correctables/react';
import { createRoot } from 'react-dom/client';

const client = createClient(
  tiered(['cache', 'origin'], {
    cache: ({ key }) => Number(localStorage.getItem(key)),
    origin: async ({ key, access, args }) => {
      const isWrite = access === 'write';
      const response = await fetch(
        `/api/${key}`,
        isWrite ? { method: 'PUT', body: String(args.value) } : {},
      );
      return response.json();
    },
  }),
);

function Stock() {
  const { view, pending, error } = useCorrectable(get('stock'), { suspend: false });
  const [setLeft, write] = useOperation((left) => put('stock', left));
  if (!view) return <p>{error ? 'not available' : 'loading'}</p>;
  return (
    <button disabled={write.pending} onClick={() => void setLeft(view.value - 1)}>
      {view.value} left {pending ? '…' : ''}
    </button>
  );
}

createRoot(document.querySelector('#root')).render(
  <CorrectablesProvider client={client}>
    <Stock />
  </CorrectablesProvider>,
);
