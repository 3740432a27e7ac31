/**
 * What users do, in the mix of *Geo-Replicated Storage with Scalable Deferred Update Replication*
 * (DSN 2013, §VI): 85 % read their timeline, 7.5 % post, and 7.5 % follow, half of them a user of
 * the other region.
 */
import { wholeBetween, type Random } from '../shared/random.ts';
import type { Action } from './network.ts';
import { getOtherRegion, type Region } from './regions.ts';

const TIMELINE_SHARE = 0.85;
const POST_SHARE = 0.075;
const OTHER_REGION_SHARE = 0.5;

export const KINDS = ['timeline', 'post', 'localFollow', 'crossFollow'] as const;
export type Kind = (typeof KINDS)[number];

/** One step of a user. A timeline has no action. */
export interface Step {
  readonly kind: Kind;
  readonly user: string;
  readonly action?: Action;
}

/** Draws the steps of the users of one region. */
export class Workload {
  readonly #random: Random;
  readonly #region: Region;
  readonly #usersPerRegion: number;
  /** Pairs that follow by an earlier step. They unfollow at the next one. */
  readonly #follows = new Set<string>();

  constructor(region: Region, usersPerRegion: number, random: Random) {
    this.#region = region;
    this.#usersPerRegion = usersPerRegion;
    this.#random = random;
  }

  drawUser(region: Region = this.#region): string {
    return `${region}/user-${wholeBetween(this.#random, 1, this.#usersPerRegion)}`;
  }

  next(): Step {
    const user = this.drawUser();
    const drawn = this.#random();
    if (drawn < TIMELINE_SHARE) return { kind: 'timeline', user };
    if (drawn < TIMELINE_SHARE + POST_SHARE)
      return {
        kind: 'post',
        user,
        action: { kind: 'post', author: user, text: `A message of ${user}` },
      };
    return this.#random() < OTHER_REGION_SHARE
      ? { kind: 'crossFollow', user, action: this.#drawFollow(user, getOtherRegion(this.#region)) }
      : { kind: 'localFollow', user, action: this.#drawFollow(user, this.#region) };
  }

  #drawFollow(follower: string, region: Region): Action {
    let followed = this.drawUser(region);
    while (followed === follower) followed = this.drawUser(region);
    const pair = `${follower} ${followed}`;
    const isFollowing = this.#follows.delete(pair);
    if (!isFollowing) this.#follows.add(pair);
    return { kind: isFollowing ? 'unfollow' : 'follow', follower, followed };
  }
}
