/**
 * Reads a timeline in two steps (Correctables, OSDI 2016, §6.3.1): the references of the tweets,
 * then the tweets; the second step begins on the preliminary references.
 */
import type { AnyClient, Correctable, Levels } from 'correctables';
import type { Watch } from '../shared/speculation/application.ts';
import { watched } from '../shared/speculation/watch-views.ts';
import { twissandraContract, type Tweet } from './contract.ts';

export class Timelines {
  readonly #store: AnyClient;

  constructor(store: AnyClient) {
    this.#store = store;
  }

  /** Returns a Correctable that closes with the tweets of the final timeline. */
  getTimeline(user: string, watch: Watch): Correctable<Tweet[], Levels, string> {
    return watched(this.#store.invoke(twissandraContract.getTimeline({ user })), watch)
      .speculate((ids, { signal }) => this.#getTweets(ids, watch, signal))
      .onFinal((tweets) => watch.delivered(tweets.map(({ id }) => id)));
  }

  /** Does the same without speculation: waits for the final timeline before it fetches tweets. */
  async getTimelineStrongly(user: string, watch: Watch): Promise<Tweet[]> {
    const ids = await watched(
      this.#store.invokeStrong(twissandraContract.getTimeline({ user })),
      watch,
    );
    const tweets = await this.#getTweets(ids, watch);
    watch.delivered(tweets.map(({ id }) => id));
    return tweets;
  }

  async #getTweets(ids: readonly string[], watch: Watch, signal?: AbortSignal): Promise<Tweet[]> {
    watch.fetching(ids, signal);
    const found = await this.#store.invokeStrong(twissandraContract.getTweets({ ids: [...ids] }), {
      signal,
    });
    return found.filter((tweet) => tweet !== null);
  }
}
