/**
 * The messages between sites about a log that etcd keeps: how much of it a site has. Sites find
 * copies that differ by them.
 */
import { count, digest, record, word } from '../record-schemas.ts';
import type { LogMessageFormat } from '../red-log-engine.ts';
import type { Origin } from '../../service/records/origin.ts';

export interface DigestMessage {
  readonly kind: 'log.digest';
  readonly position: number;
  readonly digest?: number;
  /**
   * The last place whose digest the site keeps for long: a site that is far ahead may not have
   * later ones any more.
   */
  readonly markPosition: number;
  readonly markDigest?: number;
  readonly checkpointed: number;
  /** A question of the sender after it has connected to etcd: the receiver replies at once. */
  readonly asks?: string;
  /** The question that this replies to. */
  readonly answers?: string;
}

/** Records are never in these messages: they go through etcd. */
export const ETCD_MESSAGE_FORMAT: LogMessageFormat = {
  createSchemas: () => ({
    'log.digest': record(
      { kind: word, position: count, markPosition: count, checkpointed: count },
      { digest, markDigest: digest, asks: word, answers: word },
    ),
  }),
  getProposedRecords: () => [],
  needsRoom: () => false,
  split: () => undefined,
};

/** How long replies are awaited once half of the sites have replied, and how long if fewer have. */
const [SOME_MISSING_MS, MOST_MISSING_MS] = [1000, 30_000];
const ASK_INTERVAL_MS = 250;

/**
 * The number of entries of the log that the other sites have. etcd may have lost entries, so a site
 * proposes nothing until the others have replied, or a timeout has passed, and its own copy is at
 * least as long as theirs.
 */
export class EtcdPeers {
  readonly #generation: number;
  #count = 0;
  #id: string | undefined;
  #askedFirstAtMs = 0;
  #askedAtMs = -Infinity;
  readonly #lengths = new Map<Origin, number>();

  constructor(generation: number) {
    this.#generation = generation;
  }

  /** The most entries that a site has replied with since the connection. */
  get longest(): number {
    return Math.max(0, ...this.#lengths.values());
  }

  get longestAt(): Origin | undefined {
    return [...this.#lengths].find(([, length]) => length === this.longest)?.[0];
  }

  /**
   * There is a new connection: replies to earlier questions say nothing about what etcd has now.
   */
  begin(start: number, nowMs: number): void {
    [this.#askedFirstAtMs, this.#askedAtMs] = [nowMs, -Infinity];
    this.#id = `${this.#generation}/${start}/${(this.#count += 1)}`;
    this.#lengths.clear();
  }

  /** Nothing is asked any more: enough have replied, or the connection is over. */
  stop(): void {
    this.#id = undefined;
  }

  takeQuestion(
    others: readonly Origin[],
    nowMs: number,
  ): { sites: readonly Origin[]; id: string } | undefined {
    if (this.#id === undefined || nowMs - this.#askedAtMs < ASK_INTERVAL_MS) return undefined;
    this.#askedAtMs = nowMs;
    return {
      sites: others.filter((site) => !this.#lengths.has(site)),
      id: this.#id,
    };
  }

  /** Whether a question is about the log of this generation. Another one has other entries. */
  isAbout(asks: string): boolean {
    return asks.startsWith(`${this.#generation}/`);
  }

  onReply(from: Origin, { answers, position }: DigestMessage): void {
    if (answers !== undefined && answers === this.#id) this.#lengths.set(from, position);
  }

  haveReplied(others: readonly Origin[], nowMs: number): boolean {
    const count = others.filter((site) => this.#lengths.has(site)).length;
    if (count === others.length) return true;
    const isHalf = 2 * (count + 1) >= others.length + 1;
    return nowMs - this.#askedFirstAtMs >= (isHalf ? SOME_MISSING_MS : MOST_MISSING_MS);
  }
}
