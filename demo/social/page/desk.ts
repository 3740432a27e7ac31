/** A user of one region at the page: the timeline, and what the user has done. */
import { wholeBetween, type Random } from '../../shared/random.ts';
import { social, type Message, type Profile } from '../contract.ts';
import {
  act,
  findLogs,
  readTimeline,
  type Action,
  type Receipt,
  type SocialClient,
} from '../network.ts';
import type { Region, Site } from '../regions.ts';
import { EVERYBODY, listPeople } from './people.ts';

/** How often a user who works on its own posts, otherwise it follows or unfollows. */
const POST_SHARE = 0.4;
const WORDS = [
  'Good morning!',
  'A long day.',
  'Tea or coffee?',
  'It rains here.',
  'See you soon.',
  'Lunch time.',
];

/** A receipt, and how long a row of the other region was held for it, if that is known. */
export interface ShownReceipt extends Receipt {
  readonly heldMs?: number | 'unknown';
}

export class Desk {
  readonly region: Region;
  /** The site that the user is beside. */
  readonly site: Site;
  user: string;
  timeline: readonly Message[] = [];
  /** How long the last read of the timeline took. */
  timelineMs: number | undefined;
  /** In the order in which they were sent. */
  readonly receipts: ShownReceipt[] = [];
  readonly #client: SocialClient;
  readonly #onChange: () => void;
  #profiles: readonly Profile[] = [];

  constructor(region: Region, site: Site, client: SocialClient, onChange: () => void) {
    this.region = region;
    this.site = site;
    this.#client = client;
    this.#onChange = onChange;
    this.user = listPeople(region)[0] as string;
  }

  /** The users that the user follows, as the near site knows. */
  get follows(): readonly string[] {
    return this.#profiles.find(({ user }) => user === this.user)?.follows ?? [];
  }

  get inFlight(): number {
    return this.receipts.filter(({ outcome }) => outcome === undefined).length;
  }

  /** Whether an action of the user about this other one has not ended. */
  isBusyWith(followed: string): boolean {
    return this.receipts.some(
      ({ action, outcome }) =>
        outcome === undefined &&
        action.kind !== 'post' &&
        action.follower === this.user &&
        action.followed === followed,
    );
  }

  become(user: string): void {
    this.user = user;
    this.timeline = [];
    this.#onChange();
    // A failed read is repeated.
    void this.refresh().catch(() => {});
  }

  /** Reads what the near site has by now. */
  async refresh(): Promise<void> {
    const { user } = this;
    const startedMs = performance.now();
    const timeline = await readTimeline(this.#client, user);
    const timelineMs = performance.now() - startedMs;
    this.#profiles = await this.#client.invokeWeak(social.profiles({ users: [...EVERYBODY] }));
    if (user !== this.user) return;
    this.timeline = timeline;
    this.timelineMs = timelineMs;
    this.#onChange();
  }

  /** The places of receipts that have held a row of a region for a time that is not known yet. */
  findHeldIn(region: Region): readonly number[] {
    return this.receipts.flatMap(({ action, outcome, heldMs }, at) =>
      outcome === 'done' && heldMs === undefined && findLogs(action).held === region ? [at] : [],
    );
  }

  setHeld(at: number, heldMs: number | 'unknown'): void {
    this.receipts[at] = { ...(this.receipts[at] as Receipt), heldMs };
  }

  post(text: string): Promise<Receipt> {
    return this.#act({ kind: 'post', author: this.user, text });
  }

  /** Follows another user, or ends that. */
  toggle(followed: string): Promise<Receipt> {
    return this.#act(this.getToggle(followed));
  }

  getToggle(followed: string): Action {
    const kind = this.follows.includes(followed) ? 'unfollow' : 'follow';
    return { kind, follower: this.user, followed };
  }

  /** Does something by chance. */
  async doAnything(random: Random): Promise<void> {
    if (random() < POST_SHARE) {
      await this.post(WORDS[wholeBetween(random, 0, WORDS.length - 1)] as string);
      return;
    }
    const others = EVERYBODY.filter((user) => user !== this.user);
    await this.toggle(others[wholeBetween(random, 0, others.length - 1)] as string);
  }

  async #act(action: Action): Promise<Receipt> {
    const at = this.receipts.length;
    const receipt = await act(this.#client, action, (changed) => {
      this.receipts[at] = changed;
      this.#onChange();
    });
    await this.refresh().catch(() => {});
    return receipt;
  }
}
