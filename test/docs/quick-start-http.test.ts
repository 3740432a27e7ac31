/** The read of docs/start/quick-start-http.md in cases that its page does not show. */
import { readFile } from 'node:fs/promises';
import axios, { isAxiosError } from 'axios';
import { delay, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Correctable } from '../../src/index.ts';
import { loadCode } from './bundle.ts';

const page = await readFile(
  new URL('../../docs/start/quick-start-http.md', import.meta.url),
  'utf8',
);
const [, block = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
const { article } = await loadCode<{
  readonly article: (id: string) => Correctable<{ title: string }, readonly ['cache', 'origin']>;
}>(`${block}export { article };`, 'quick-start-http');

const CACHE = 'https://cache.example/articles/7';
const ORIGIN = 'https://origin.example/articles/7';

const network = setupServer();
/** The codes with which requests have failed. */
const failures: (string | undefined)[] = [];

beforeAll(() => {
  network.listen({ onUnhandledRequest: 'error' });
  axios.interceptors.response.use(undefined, (error: unknown) => {
    failures.push(isAxiosError(error) ? error.code : String(error));
    throw error;
  });
});
afterEach(() => {
  network.resetHandlers();
  failures.length = 0;
});
afterAll(() => network.close());

/** Resolves when `url` is requested. The server never replies. */
function silent(url: string): Promise<void> {
  return new Promise((onRequest) => {
    network.use(
      http.get(url, async () => {
        onRequest();
        await delay('infinite');
      }),
    );
  });
}

test('a canceled read ends both requests', async () => {
  const requested = [silent(CACHE), silent(ORIGIN)];
  const read = article('7');
  await Promise.all(requested);
  read.cancel();
  await expect(read).rejects.toMatchObject({ code: 'ABORTED' });
  await expect.poll(() => failures).toEqual(['ERR_CANCELED', 'ERR_CANCELED']);
});
