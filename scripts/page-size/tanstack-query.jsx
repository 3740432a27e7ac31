/** Shows the cached value, then that of the API, and writes. */
import {
  QueryClient,
  QueryClientProvider,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';

const client = new QueryClient();
const queryKey = ['stock'];

function Stock() {
  const queries = useQueryClient();
  const { data, isFetching, error } = useQuery({
    queryKey,
    queryFn: async () => (await fetch('/api/stock')).json(),
    placeholderData: () => Number(localStorage.getItem('stock')),
  });
  const { mutate, isPending } = useMutation({
    mutationFn: (left) => fetch('/api/stock', { method: 'PUT', body: String(left) }),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  if (data === undefined) return <p>{error ? 'not available' : 'loading'}</p>;
  return (
    <button disabled={isPending} onClick={() => mutate(data - 1)}>
      {data} left {isFetching ? '…' : ''}
    </button>
  );
}

createRoot(document.querySelector('#root')).render(
  <QueryClientProvider client={client}>
    <Stock />
  </QueryClientProvider>,
);
