/**
 * The model of the page: a user of each region, the counts of the red logs, and strong reads of all
 * follows.
 */
import { createClient } from 'correctables';
import { exponentialBackoff, redblue } from 'correctables/bindings/redblue';
import { seeded } from '../../shared/random.ts';
import { social } from '../contract.ts';
import { findHalfFollows } from '../history.ts';
import { readLogCounts, type CountsByRegion } from '../log-counts.ts';
import { readProfiles, type Action, type SocialClient } from '../network.ts';
import { MAIN_LEADER, REGION_SITES, REGIONS, type Region, type Site } from '../regions.ts';
import { Desk } from './desk.ts';
import { EVERYBODY, listPeople } from './people.ts';

const REFRESH_EVERY_MS = 500;
/** The pause between two steps of a user who works on its own. */
const PAUSE_MS = 700;
const RECONNECT_MS_MAX = 1_000;
/** How often the page asks whether the row of an action between the regions is held. */
const POLL_MS = 5;

export type Phase = 'connecting' | 'ready' | 'in flight' | 'failed';

/** Strong reads of who follows whom. */
export interface Audits {
  readonly reads: number;
  /** Reads that have shown half a follow. */
  readonly halves: number;
}

export class PageState {
  readonly desks: readonly Desk[];
  counts: CountsByRegion | undefined;
  audits: Audits = { reads: 0, halves: 0 };
  readonly #auditor: SocialClient;
  readonly #lost = new Set<Site>();
  readonly #onChange: () => void;
  #working: AbortController | undefined;
  #isMeeting = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
    this.desks = REGIONS.map((region) => {
      const [, site] = REGION_SITES[region];
      return new Desk(region, site, this.#connect(site), onChange);
    });
    this.#auditor = this.#connect(MAIN_LEADER);
  }

  get phase(): Phase {
    if (this.#lost.size > 0) return 'failed';
    if (this.counts === undefined) return 'connecting';
    return this.desks.some(({ inFlight }) => inFlight > 0) ? 'in flight' : 'ready';
  }

  get isWorking(): boolean {
    return this.#working !== undefined;
  }

  /** Describes what `meet` does. */
  get meeting(): readonly Action[] {
    return this.desks.map((desk) => desk.getToggle(this.followed));
  }

  /** Whether both users can change the same row now. */
  get canMeet(): boolean {
    return !this.isWorking && !this.#isMeeting && this.phase === 'ready';
  }

  /** An American whom the other desk is not about. */
  get followed(): string {
    return listPeople('us').find((user) => user !== this.#desk('us').user) as string;
  }

  /** Reads the state of the sites repeatedly, because other visitors change it too. Never ends. */
  async watch(): Promise<never> {
    for (;;) {
      // A failed read is repeated. The state of the connection shows the problem.
      await this.#refresh().catch(() => {});
      await pause(REFRESH_EVERY_MS);
    }
  }

  /**
   * Lets both users follow the same American, or end that. The European needs two logs. The
   * American needs one, and begins while the row is held.
   */
  async meet(): Promise<void> {
    this.#isMeeting = true;
    const { followed } = this;
    const far = this.#desk('eu').toggle(followed);
    await untilHeld('us', far);
    await Promise.all([far, this.#desk('us').toggle(followed)]);
    this.#isMeeting = false;
    this.#onChange();
  }

  /** Lets both users do something again and again, until `stop` is called. */
  work(): void {
    const working = (this.#working = new AbortController());
    for (const [at, desk] of this.desks.entries())
      void workAt(desk, Date.now() + at, working.signal);
    this.#onChange();
  }

  stop(): void {
    this.#working?.abort();
    this.#working = undefined;
    this.#onChange();
  }

  async #refresh(): Promise<void> {
    // One after the other: a timeline must not wait for answers that it does not need.
    for (const desk of this.desks) await desk.refresh();
    await this.#readCounts();
    await this.#audit();
    this.#onChange();
  }

  async #readCounts(): Promise<void> {
    const before = this.counts;
    this.counts = await readLogCounts('metrics');
    if (before !== undefined)
      for (const region of REGIONS) this.#assignHeld(region, before, this.counts);
  }

  /** The server adds up the times of holds. If one hold has ended, its time is the difference. */
  #assignHeld(region: Region, before: CountsByRegion, after: CountsByRegion): void {
    const ended = after[region].holds - before[region].holds;
    if (ended === 0) return;
    const waiting = this.desks.flatMap((desk) =>
      desk.findHeldIn(region).map((at) => ({ desk, at })),
    );
    const heldMs = after[region].heldMs - before[region].heldMs;
    for (const { desk, at } of waiting)
      desk.setHeld(at, ended === 1 && waiting.length === 1 ? heldMs : 'unknown');
  }

  #desk(region: Region): Desk {
    return this.desks[REGIONS.indexOf(region)] as Desk;
  }

  async #audit(): Promise<void> {
    const profiles = await readProfiles(this.#auditor, EVERYBODY);
    const isHalf = findHalfFollows({ profiles, startMs: 0, endMs: 0 }).length > 0;
    const { reads, halves } = this.audits;
    this.audits = { reads: reads + 1, halves: halves + (isHalf ? 1 : 0) };
  }

  #connect(site: Site): SocialClient {
    const url = new URL(`./${site}`, location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const binding = redblue(social, {
      url: url.href,
      reconnect: exponentialBackoff({ maxDelayMs: RECONNECT_MS_MAX }),
      onStateChange: (state) => {
        if (state === 'waiting' || state === 'closed') this.#lost.add(site);
        if (state === 'open') this.#lost.delete(site);
        this.#onChange();
      },
    });
    return createClient(binding);
  }
}

/** Waits until a row of the region is held, or until the action has ended. */
async function untilHeld(region: Region, action: Promise<unknown>): Promise<void> {
  const isOver = action.then(
    () => true,
    () => true,
  );
  for (;;) {
    const counts = await readLogCounts('metrics');
    if (counts[region].standing > 0) return;
    if ((await Promise.race([isOver, pause(POLL_MS)])) === true) return;
  }
}

async function workAt(desk: Desk, seed: number, signal: AbortSignal): Promise<void> {
  const random = seeded(seed);
  while (!signal.aborted) {
    await desk.doAnything(random);
    await pause(PAUSE_MS);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
