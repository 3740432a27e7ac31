/** The read of docs/start/quick-start-http.md in cases that its page does not show. */
import { readFile } from 'node:fs/promises';
import axios, { isAxiosError } from 'axios';
import { delay, http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Correctable } from '../../src/index.ts';
import { loadCode } from './bundle.ts';

const page = await readFile(new URL('../../docs/start/quick-start-http.md', import.meta.url), 'utf8');
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

test('ignores a cache that is slower than the origin', async () => {
  void silent(CACHE);
  network.use(http.get(ORIGIN, () => HttpResponse.json({ title: 'new' })));
  const levels: string[] = [];
  for await (const { level } of article('7')) levels.push(level);
  expect(levels).toEqual(['origin']);
});

test('an origin that fails before the cache replies → its failure, with the cached view', async () => {
  let answer: () => void = () => {};
  const isTime = new Promise<void>((resolve) => (answer = resolve));
  network.use(
    http.get(CACHE, async () => {
      await isTime;
      return HttpResponse.json({ title: 'old' });
    }),
    http.get(ORIGIN, () => new HttpResponse(null, { status: 503 })),
  );
  const read = article('7');
  await expect.poll(() => failures).toEqual(['ERR_BAD_RESPONSE']);
  answer();
  await expect(read).rejects.toMatchObject({ code: 'FINAL_FAILED', lastView: { value: { title: 'old' } } });
});

test('both down → the failure of the origin, with that of the cache', async () => {
  network.use(
    http.get(CACHE, () => new HttpResponse(null, { status: 504 })),
    http.get(ORIGIN, () => new HttpResponse(null, { status: 503 })),
  );
  await expect(article('7')).rejects.toMatchObject({
    cause: { status: 503 },
    levelErrors: { cache: { status: 504 } },
  });
});
