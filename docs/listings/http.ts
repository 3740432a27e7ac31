/**
 * Listing 7 over HTTP, with axios: `cache` is a shared cache close by (a CDN, a reverse proxy) that
 * answers from what it has, `origin` the server behind it.
 */
import axios, { isAxiosError, type AxiosInstance } from 'axios';
import { CorrectableError, type Binding, type Access, type Operation } from 'correctables';
import { withDetails, tiered, skipLevel, type TierContext } from 'correctables/bindings/tiered';

/** What each operation does, whatever a caller says of it. */
const ACCESS: ReadonlyMap<string, Access> = new Map<string, Access>([
  ['article', 'read'],
  ['rename', 'write'],
]);

export const article = (id: string): Operation<{ title: string }> => ({
  name: 'article',
  args: { id },
  access: 'read',
  key: `articles/${id}`,
});

export const rename = (id: string, title: string): Operation<{ title: string }> => ({
  name: 'rename',
  args: { id, title },
  access: 'write',
  key: `articles/${id}`,
});

/** Articles behind an HTTP cache. */
export function articles(urls: {
  cache: string;
  origin: string;
}): Binding<readonly ['cache', 'origin']> {
  const cache = axios.create({
    baseURL: urls.cache,
    headers: { 'Cache-Control': 'only-if-cached' },
  });
  const origin = axios.create({ baseURL: urls.origin, headers: { 'Cache-Control': 'no-cache' } });
  return tiered(
    ['cache', 'origin'],
    {
      cache: (operation, context) => ask(cache, operation, context).catch(missOrThrow),
      origin: (operation, context) =>
        ask(origin, operation, context).catch((error) => explain(error, operation)),
    },
    { supports: ({ name, access }) => ACCESS.get(name) === access },
  );
}

async function ask(
  server: AxiosInstance,
  { args, access }: Operation,
  context: TierContext,
): Promise<unknown> {
  const { id, title } = args as { readonly id: string; readonly title?: string };
  const { data, headers } = await server.request({
    method: access === 'read' ? 'GET' : 'PATCH',
    // Made of the arguments, not of the key: that is a hint, which callers may set as they like.
    url: `/articles/${encodeURIComponent(id)}`,
    ...(access === 'write' && { data: { title } }),
    signal: context.signal,
  });
  const revision: unknown = headers['x-revision'];
  return withDetails(data, revision === undefined ? {} : { version: Number(revision) });
}

/** 504 is how a cache says "not cached" to `only-if-cached`: no answer, which is no failure. */
function missOrThrow(error: unknown): typeof skipLevel {
  if (isAxiosError(error) && error.response?.status === 504) return skipLevel;
  throw error;
}

/** No response at all: the caller may try again, but for an update that may have been sent. */
function explain(error: unknown, { access }: Operation): never {
  if (!isAxiosError(error) || error.response !== undefined) throw error;
  if (access === 'read' || error.code === 'ECONNREFUSED') {
    throw new CorrectableError('UNAVAILABLE', 'the origin cannot be reached: try again', {
      cause: error,
    });
  }
  throw new CorrectableError('UNKNOWN', 'the origin gave no answer: it may have done the update', {
    cause: error,
  });
}
