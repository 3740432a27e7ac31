/** Which generation of the red log a node follows, as operators and other sites change it. */
import {
  OPEN_RED,
  READ_RED,
  SEAL_RED,
  isSuperseded,
  parseRedGeneration,
  type RedGeneration,
  type SealReply,
} from './red-generation.ts';

/** What following another generation takes. */
export interface RedFollowerHost {
  /** Writes it down. */
  save(red: RedGeneration): void;
  readonly isRunning: boolean;
  /** Sends clients to other sites, and stops the site. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Entries of the red log on the disk of a site that is stopped. */
  countEntries(): number;
  /** Takes the state of another site: the own end of the red log does not count. */
  catchUp(message: string): Promise<void>;
  getConnectedPeers(): readonly string[];
  request(peer: string, kind: string, body: unknown): Promise<unknown>;
}

const RETRY_MS = 200;

/** The generation of one node. */
export class RedFollower {
  readonly #host: RedFollowerHost;
  readonly #signal: AbortSignal;
  #red: RedGeneration;
  /** Ends when the site runs again. */
  #starting: Promise<void> | undefined;

  constructor(red: RedGeneration, host: RedFollowerHost, signal: AbortSignal) {
    this.#red = red;
    this.#host = host;
    this.#signal = signal;
  }

  get red(): RedGeneration {
    return this.#red;
  }

  /** Answers a request, if it is about generations; `undefined` if not. */
  answer(kind: string, body: unknown): RedGeneration | Promise<RedGeneration> | undefined {
    if (kind === READ_RED) return this.#red;
    if (kind === SEAL_RED) return this.#seal(parseRedGeneration(body));
    return kind === OPEN_RED ? this.#open(parseRedGeneration(body)) : undefined;
  }

  /** Begins with the generation that the other sites follow. */
  async adopt(): Promise<void> {
    for (const peer of this.#host.getConnectedPeers()) await this.#ask(peer);
  }

  /** Waits while the log is sealed, and asks the other sites whether it is open. */
  async waitUntilOpen(): Promise<void> {
    while (this.#red.leader === null) {
      this.#signal.throwIfAborted();
      await this.adopt();
      if (this.#red.leader === null) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** The site runs, and a peer is connected: it may have gone on without this site. */
  async onConnected(peer: string): Promise<void> {
    if (!this.#host.isRunning) return;
    const isNew = await this.#ask(peer);
    if (!isNew || !this.#host.isRunning) return;
    const { generation, leader } = this.#red;
    await this.#host.catchUp(`generation ${generation} of the red log began at ${leader} while the site was away`);
  }

  /** Whether the peer follows a generation that this node did not know. */
  async #ask(peer: string): Promise<boolean> {
    try {
      const red = parseRedGeneration(await this.#host.request(peer, READ_RED, null));
      if (!isSuperseded(this.#red, red)) return false;
      this.#follow(red);
      return true;
    } catch {
      // It is asked again at its next connection.
      return false;
    }
  }

  #follow(red: RedGeneration): void {
    this.#red = red;
    this.#host.save(red);
  }

  async #seal({ generation }: RedGeneration): Promise<SealReply> {
    if (generation < this.#red.generation) throw new Error(`generation ${this.#red.generation} is known already`);
    if (this.#host.isRunning) await this.#host.stop();
    this.#follow({ generation, leader: null });
    const length = this.#host.countEntries();
    this.#starting ??= this.waitUntilOpen()
      .then(() => this.#host.start())
      .finally(() => (this.#starting = undefined));
    this.#starting.catch(() => {});
    return { ...this.#red, length };
  }

  async #open(red: RedGeneration): Promise<RedGeneration> {
    if (isSuperseded(this.#red, red)) {
      if (this.#red.leader !== null) throw new Error('the log must be sealed before it is opened');
      this.#follow(red);
    }
    await this.#starting;
    return this.#red;
  }
}
