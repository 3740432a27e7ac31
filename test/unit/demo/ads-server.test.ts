/**
 * Listing 4 on a store played by hand: what is fetched when, what is cancelled, and what is
 * delivered.
 */
import { createClient } from 'correctables';
import { scriptedBinding } from 'correctables/testing';
import { expect, test } from 'vitest';
import type { Ad } from '../../../demo/ad-server/contract.ts';
import { AdServer } from '../../../demo/ad-server/ad-server.ts';
import type { Creative } from '../../../demo/ad-server/creative.ts';
import type { Watch } from '../../../demo/shared/speculation/application.ts';

const LEVELS = ['causal', 'strong'] as const;

function adOf(id: string): Ad {
  return { id, brand: `Brand ${id}`, priceCents: 1250, creative: `creative-${id}` };
}

function creativeOf(name: string): Creative {
  return { name, texts: { en: 'from', de: 'ab' }, media: '<svg/>' };
}

/** A request for content that waits for the test. */
interface ContentCall {
  readonly names: readonly string[];
  readonly signal: AbortSignal | undefined;
  answer(): void;
}

function setUp(locale = 'en-IE') {
  const binding = scriptedBinding(LEVELS);
  const contentCalls: ContentCall[] = [];
  const waiting: ((call: ContentCall) => void)[] = [];
  const content = (
    names: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<Creative[]> =>
    new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
      const call: ContentCall = { names, signal, answer: () => resolve(names.map(creativeOf)) };
      contentCalls.push(call);
      waiting.shift()?.(call);
    });
  const events: string[] = [];
  const watch: Watch = {
    references: (ids, final) => events.push(`${final ? 'final' : 'preliminary'} ${ids.join(',')}`),
    fetching: (ids) => events.push(`fetching ${ids.join(',')}`),
    delivered: (ids) => events.push(`delivered ${ids.join(',')}`),
  };
  const server = new AdServer({ store: createClient(binding), content, locale });
  const nextContent = (): Promise<ContentCall> => new Promise((resolve) => waiting.push(resolve));
  return { binding, server, watch, events, contentCalls, nextContent };
}

test('fetchAdsByUserId: a confirmed preliminary view → ads fetched once, before the final, delivered after it', async () => {
  const { binding, server, watch, events, nextContent } = setUp();
  const requested = nextContent();
  const result = server.fetchAdsByUserId('u', watch);
  const refs = await binding.next();
  expect(refs.levels).toEqual(['causal', 'strong']);
  refs.view(['a', 'b'], 'causal');
  const ads = await binding.next();
  expect(ads.operation).toMatchObject({ name: 'getAds', args: { ids: ['a', 'b'] } });
  expect(ads.levels).toEqual(['strong']);
  ads.view([adOf('a'), adOf('b')], 'strong');
  const content = await requested;
  expect(content.names).toEqual(['creative-a', 'creative-b']);
  content.answer();
  refs.confirm('strong', 0);

  expect(await result).toEqual([
    { id: 'a', text: 'Brand a: from €12.50', media: '<svg/>' },
    { id: 'b', text: 'Brand b: from €12.50', media: '<svg/>' },
  ]);
  expect(events).toEqual(['preliminary a,b', 'fetching a,b', 'final a,b', 'delivered a,b']);
});

test('fetchAdsByUserId: references change → the prefetch of content is cancelled, only the final ads are delivered', async () => {
  const { binding, server, watch, events, nextContent } = setUp();
  const [first, second] = [nextContent(), nextContent()];
  const result = server.fetchAdsByUserId('u', watch);
  const refs = await binding.next();
  refs.view(['a'], 'causal');
  (await binding.next()).view([adOf('a')], 'strong');
  const prefetch = await first;
  expect(prefetch.signal?.aborted).toBe(false);
  refs.view(['b'], 'strong');
  const ads = await binding.next();
  expect(prefetch.signal?.aborted).toBe(true);
  expect(ads.operation.args).toEqual({ ids: ['b'] });
  ads.view([adOf('b')], 'strong');
  (await second).answer();

  expect((await result).map(({ id }) => id)).toEqual(['b']);
  expect(events).toEqual(['preliminary a', 'fetching a', 'final b', 'fetching b', 'delivered b']);
});

test('fetchAdsByUserId: references change while the ads are being read → that read is cancelled too', async () => {
  const { binding, server, watch, contentCalls, nextContent } = setUp();
  const requested = nextContent();
  const result = server.fetchAdsByUserId('u', watch);
  const refs = await binding.next();
  refs.view(['a'], 'causal');
  const stale = await binding.next();
  refs.view(['b'], 'strong');
  const fresh = await binding.next();
  expect(stale.context.signal.aborted).toBe(true);
  fresh.view([adOf('b')], 'strong');
  (await requested).answer();
  expect((await result).map(({ id }) => id)).toEqual(['b']);
  expect(contentCalls.map(({ names }) => names)).toEqual([['creative-b']]);
});

test('fetchAdsByUserId: an ad that is gone → left out', async () => {
  const { binding, server, watch, nextContent } = setUp('de-DE');
  const requested = nextContent();
  const result = server.fetchAdsByUserId('u', watch);
  const refs = await binding.next();
  refs.view(['a', 'gone'], 'strong');
  (await binding.next()).view([adOf('a'), null], 'strong');
  (await requested).answer();
  expect((await result).map(({ text }) => text.replaceAll(/\s/g, ' '))).toEqual([
    'Brand a: ab 12,50 €',
  ]);
});

test('fetchAdsByUserId: the content service fails on confirmed references → the failure, with its cause', async () => {
  const binding = scriptedBinding(LEVELS);
  const content = (): Promise<Creative[]> => Promise.reject(new Error('503'));
  const server = new AdServer({ store: createClient(binding), content, locale: 'en' });
  const result = server.fetchAdsByUserId('u', { references() {}, fetching() {}, delivered() {} });
  (await binding.next()).view(['a'], 'strong');
  (await binding.next()).view([adOf('a')], 'strong');
  await expect(result).rejects.toMatchObject({
    code: 'SPECULATION_FAILED',
    cause: { message: '503' },
  });
});

test('fetchAdsStrongly fetches nothing before the final references', async () => {
  const { binding, server, watch, events, nextContent } = setUp();
  const requested = nextContent();
  const result = server.fetchAdsStrongly('u', watch);
  const refs = await binding.next();
  expect(refs.levels).toEqual(['strong']);
  expect(events).toEqual([]);
  refs.view(['a'], 'strong');
  (await binding.next()).view([adOf('a')], 'strong');
  (await requested).answer();
  await result;
  expect(events).toEqual(['final a', 'fetching a', 'delivered a']);
});
