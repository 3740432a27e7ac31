/**
 * The ad server as an `Application` for benchmarks and pages: users have numbers, ads are fetched
 * with and without speculation, and references can be changed.
 */
import type { AnyClient } from 'correctables';
import type { Application } from '../shared/speculation/application.ts';
import { AdServer } from './ad-server.ts';
import { adContract } from './contract.ts';
import type { ContentSource } from './creative.ts';
import { uidOf, type AdData } from './data.ts';
import type { LocalAd } from './localize.ts';

export interface AdApplicationOptions {
  readonly store: AnyClient;
  readonly content: ContentSource;
  readonly data: AdData;
  /** The locale of the users, for example `en-IE`. */
  readonly locale: string;
}

export function adApplication({
  store,
  content,
  data,
  locale,
}: AdApplicationOptions): Application<LocalAd> {
  const server = new AdServer({ store, content, locale });
  return {
    users: data.profiles,
    fetch: (user, way, watch) =>
      way === 'correctable'
        ? server.fetchAdsByUserId(uidOf(user), watch)
        : server.fetchAdsStrongly(uidOf(user), watch),
    change: (user, random) =>
      store.invoke(
        adContract.putProfiles({ profiles: [{ uid: uidOf(user), refs: data.newRefs(random) }] }),
      ),
  };
}
