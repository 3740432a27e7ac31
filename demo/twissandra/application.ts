/**
 * The timelines as an `Application` for benchmarks and pages: users have numbers, timelines are
 * read with and without speculation, and tweets are posted.
 */
import type { AnyClient } from 'correctables';
import type { Application } from '../shared/speculation/application.ts';
import { twissandraContract, type Tweet } from './contract.ts';
import { userOf, type TweetData } from './data.ts';
import { Timelines } from './timelines.ts';

export function timelineApplication(store: AnyClient, data: TweetData): Application<Tweet> {
  const timelines = new Timelines(store);
  return {
    users: data.timelines,
    fetch: (user, way, watch) =>
      way === 'correctable'
        ? timelines.getTimeline(userOf(user), watch)
        : timelines.getTimelineStrongly(userOf(user), watch),
    change: (user, random) =>
      store.invoke(twissandraContract.post({ user: userOf(user), body: data.newBody(random) })),
  };
}
