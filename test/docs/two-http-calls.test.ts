/** The ten lines of docs/guide/two-http-calls.md, where their page does not go. */
import { readFile } from 'node:fs/promises';
import axios, { isAxiosError } from 'axios';
import { delay, http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Correctable } from '../../src/index.ts';
import { loadCode } from './bundle.ts';

const page = await readFile(new URL('../../docs/guide/two-http-calls.md', import.meta.url), 'utf8');
const [, block = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
const { article } = await loadCode<{
  readonly article: (id: string) => Correctable<{ title: string }, readonly ['cache', 'origin']>;
}>(`${block}export { article };`, 'two-http-calls');

const CACHE = 'https://cache.example/articles/7';
const ORIGIN = 'https://origin.example/articles/7';

const network = setupServer();
/** What requests have failed with, as axios says it. */
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

/** A server that has been asked, and gives no answer. */
function silent(url: string): Promise<void> {
  return new Promise((onAsked) => {
    network.use(
      http.get(url, async () => {
        onAsked();
        await delay('infinite');
      }),
    );
  });
}

test('cancelled → both requests end', async () => {
  const requested = [silent(CACHE), silent(ORIGIN)];
  const read = article('7');
  await Promise.all(requested);
  read.cancel();
  await expect(read).rejects.toMatchObject({ code: 'ABORTED' });
  await expect.poll(() => failures).toEqual(['ERR_CANCELED', 'ERR_CANCELED']);
});

test('a cache that is slower than the origin → no part of it', async () => {
  void silent(CACHE);
  network.use(http.get(ORIGIN, () => HttpResponse.json({ title: 'new' })));
  const levels: string[] = [];
  for await (const { level } of article('7')) levels.push(level);
  expect(levels).toEqual(['origin']);
});

test('an origin that fails before the cache has answered → its failure, with what the cache said', async () => {
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

test('both down → the failure of the origin, beside that of the cache', async () => {
  network.use(
    http.get(CACHE, () => new HttpResponse(null, { status: 504 })),
    http.get(ORIGIN, () => new HttpResponse(null, { status: 503 })),
  );
  await expect(article('7')).rejects.toMatchObject({
    cause: { status: 503 },
    levelErrors: { cache: { status: 504 } },
  });
});
