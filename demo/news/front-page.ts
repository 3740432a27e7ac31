/**
 * The front page: one call, and a view for each level that answers it (Correctables, OSDI 2016,
 * Listing 6).
 */
import type { Client, Correctable } from 'correctables';
import { news, type Story } from './contract.ts';

/**
 * The levels: of the device's cache, of the nearest site, and of all sites. `tentative` is for
 * writes that are not certain yet.
 */
export type NewsLevels = readonly ['cache', 'tentative', 'causal', 'strong'];

export interface NewsView {
  readonly stories: readonly Story[];
  readonly level: NewsLevels[number];
  /** Since the call, in milliseconds. */
  readonly ms: number;
  /**
   * When this device got the stories, if they come from its cache: milliseconds since the epoch.
   */
  readonly cachedAt?: number | undefined;
}

/**
 * Reads the headlines once, and draws each view: first that of the device's cache, then stronger
 * ones.
 */
export function showLatestNews(
  reader: Client<NewsLevels>,
  refreshDisplay: (view: NewsView) => void,
): Correctable<Story[], NewsLevels> {
  const startedAt = performance.now();
  const latestNews = reader.invoke(news.getLatestNews(null));
  latestNews.subscribe({
    next: ({ value, level, meta }) => {
      const cachedAt = meta?.['cachedAt'] as number | undefined;
      refreshDisplay({ stories: value, level, ms: performance.now() - startedAt, cachedAt });
    },
    error: () => {},
  });
  return latestNews;
}
