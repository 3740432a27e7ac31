/** Plays the scripts of hostile clients, several at a time. */
import { Random } from '../../src/server/service/collections/random.ts';
import { RawPeer } from '../support/hostile/raw-peer.ts';
import { closeFrame } from '../support/hostile/ws-frames.ts';
import { describeScript, drawClient, type ClientScript, type SiteFacts } from './client-script.ts';

/** How long a hostile client waits for an answer that may never come. */
const ANSWER_MS = 100;
const AT_ONCE = 8;
const LAST_KEPT = 24;

/** What is counted. */
export interface Tally {
  frames: number;
  connections: number;
  requests: number;
}

export class Attackers {
  /** The newest scripts, for the report of a crash. */
  readonly last: string[] = [];
  readonly #sites: readonly [SiteFacts, ...SiteFacts[]];
  readonly #tally: Tally;
  readonly #underWay = new Set<number>();
  readonly #first: number;
  #seed: number;

  constructor(seed: number, sites: readonly [SiteFacts, ...SiteFacts[]], stats: Tally) {
    this.#first = seed;
    this.#seed = seed;
    this.#sites = sites;
    this.#tally = stats;
  }

  /** The first seed that was not used. */
  get next(): number {
    return this.#seed;
  }

  /** A run that begins with this seed repeats what is under way, and what was just before. */
  get seed(): number {
    return Math.max(this.#first, Math.min(this.#seed, ...this.#underWay) - 2 * AT_ONCE);
  }

  async run(isOver: () => boolean): Promise<void> {
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.#work(isOver)));
  }

  async #work(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const seed = this.#seed++;
      this.#underWay.add(seed);
      const script = drawClient(new Random(seed), this.#sites);
      this.last.push(`--seed ${seed}: ${describeScript(script)}`);
      if (this.last.length > LAST_KEPT) this.last.shift();
      const wasReached = await this.#play(script).then(
        () => true,
        () => false,
      );
      // The listener is gone.
      if (!wasReached) return;
      this.#underWay.delete(seed);
    }
  }

  async #play(script: ClientScript): Promise<void> {
    const site = this.#sites.find(({ name }) => name === script.site) as SiteFacts;
    const peer = await RawPeer.connect(site.port);
    this.#tally.connections++;
    this.#tally.requests += script.requests;
    this.#tally.frames += script.frames;
    for (const [index, piece] of script.pieces.entries()) {
      if (script.awaitsBefore.has(index)) await this.#answer(peer);
      peer.write(piece);
    }
    await this.#leave(peer, script);
  }

  async #leave(peer: RawPeer, { leaving }: ClientScript): Promise<void> {
    if (leaving !== 'reset') await this.#answer(peer);
    if (leaving === 'ordered') peer.write(closeFrame(1000, true));
    if (leaving === 'fin' || leaving === 'ordered') {
      peer.fin();
      await within(
        peer.until(() => false),
        ANSWER_MS,
        undefined,
      );
    }
    if (leaving === 'silent') peer.destroy();
    else peer.reset();
  }

  /** Waits for the next word of the server. */
  async #answer(peer: RawPeer): Promise<void> {
    const reported = peer.socket.bytesRead;
    await within(
      peer.until(() => peer.socket.bytesRead > reported),
      ANSWER_MS,
      undefined,
    );
  }
}

/**
 * The result of `work`, or `late` if that takes longer than `limitMs`: an outer limit for what may
 * hang.
 */
async function within<T>(work: Promise<T>, limitMs: number, late: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<T>((resolve) => (timer = setTimeout(() => resolve(late), limitMs)));
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
