/**
 * Serving ads (Correctables, OSDI 2016, Listing 4): the ads of the preliminary references are
 * fetched while the final references are in flight. This hides the latency of strong consistency.
 * The delivered ads are always those of the final references. The same code runs in a Node service
 * and in a web page.
 */
import type { AnyClient, Correctable, Levels } from 'correctables';
import { watched } from '../shared/speculation/watch-views.ts';
import type { Watch } from '../shared/speculation/application.ts';
import { adContract } from './contract.ts';
import type { ContentSource } from './creative.ts';
import { localize, type LocalAd } from './localize.ts';

export interface AdServerOptions {
  readonly store: AnyClient;
  readonly content: ContentSource;
  /** The locale of the user, for example `en-IE`. */
  readonly locale: string;
}

export class AdServer {
  readonly #options: AdServerOptions;

  constructor(options: AdServerOptions) {
    this.#options = options;
  }

  /** Listing 4. Closes with the ads that the final references name. */
  fetchAdsByUserId(uid: string, watch: Watch): Correctable<LocalAd[], Levels, string> {
    const { store } = this.#options;
    return watched(store.invoke(adContract.getPersonalizedAdsRefs({ uid })), watch)
      .speculate((refs, { signal }) => this.#getAds(refs, watch, signal)) // fetch and post-process ads
      .onFinal((ads) => watch.delivered(ads.map(({ id }) => id)));
  }

  /** Does the same without speculation: waits for the final references before it fetches ads. */
  async fetchAdsStrongly(uid: string, watch: Watch): Promise<LocalAd[]> {
    const { store } = this.#options;
    const refs = await watched(
      store.invokeStrong(adContract.getPersonalizedAdsRefs({ uid })),
      watch,
    );
    const ads = await this.#getAds(refs, watch);
    watch.delivered(ads.map(({ id }) => id));
    return ads;
  }

  async #getAds(refs: readonly string[], watch: Watch, signal?: AbortSignal): Promise<LocalAd[]> {
    const { store, content, locale } = this.#options;
    watch.fetching(refs, signal);
    const found = await store.invokeStrong(adContract.getAds({ ids: [...refs] }), { signal });
    const ads = found.filter((ad) => ad !== null);
    const creatives = await content(
      ads.map(({ creative }) => creative),
      signal,
    );
    return ads.map((ad, n) => {
      const creative = creatives[n];
      if (creative === undefined) throw new Error(`the content service left out ${ad.creative}`);
      return localize(ad, creative, locale);
    });
  }
}
