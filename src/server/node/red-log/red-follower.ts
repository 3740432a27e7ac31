/** Follows the generations of the red log, as operators and other sites change them. */
import { isRecord } from '../../../correctable/validate.ts';
import { isPrefix, type LogCopy } from './log-copy.ts';
import { READ_NAMED, type NamedEntries, type NamedLog } from './named-entries.ts';
import {
  OPEN_RED,
  READ_RED,
  SEAL_RED,
  getBegins,
  getCopyGeneration,
  getLogs,
  isSuperseded,
  parseRedGeneration,
  type ReadReply,
  type RedGeneration,
  type SealReply,
  type SiteCopies,
  type StoredGeneration,
} from './red-generation.ts';

/** Acts for the follower when the generation changes. */
export interface RedFollowerContext {
  save(red: StoredGeneration): void;
  readonly isRunning: boolean;
  /**
   * Whether the site receives the state of another site, or has no state yet. Then its copy of the
   * log must not be used.
   */
  readonly isTransferring: boolean;
  /** Lets clients move to other sites, and stops the site. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Resolves once a start in flight has opened what the site has, and the site runs. */
  waitForOpening(): Promise<void>;
  /** Called if the site cannot start. */
  onFailed(error: Error): void;
  /**
   * Reserves the disk space that the site needs to start again. `releaseRoom` frees it. Throws if
   * there is not enough space.
   */
  reserveRoom(): void;
  releaseRoom(): void;
  /** Called when the site is stopped until the log is opened, and again if that takes long. */
  onSealed(message: string, isLasting: boolean): void;
  /**
   * Returns how many entries of each red log a stopped site has on its disk, by the ordinals of the
   * partitions.
   */
  countEntries(): Promise<readonly number[]>;
  /** Returns the logs in which a running site has no vote yet. */
  findLogsWithoutVote(): readonly number[];
  /**
   * Returns what a stopped site has on its disk that names entries of the red log of a partition.
   */
  findNamed(partition: number): Promise<NamedEntries>;
  /**
   * Receives the state of another site, calls `onCopied` once it is on the disk, and starts. The
   * site's copies of the logs are replaced by the generation `to`, unless they are prefixes of its
   * logs.
   */
  catchUp(message: string, to: FollowedLog, onCopied: () => void): Promise<void>;
  getConnectedPeers(): readonly string[];
  request(peer: string, kind: string, body: unknown): Promise<unknown>;
}

/** The logs that a site follows, and the generation of the copies that it has. */
export interface FollowedLog extends RedGeneration {
  readonly copy: number;
  readonly begins?: readonly LogCopy[] | undefined;
}

/** Returns the copies that a site has, from their lengths. */
export function toSiteCopies(
  { copy, begins }: Pick<FollowedLog, 'copy' | 'begins'>,
  lengths: readonly number[],
): readonly LogCopy[] {
  return lengths.map((length, partition) => {
    const begin = begins?.[partition];
    return { copy, length, ...(begin !== undefined && { begin }) };
  });
}

const RETRY_MS = 200;
/** Restoring the log takes a moment. A site that is sealed for longer raises an alarm. */
const SEALED_ALARM_MS = 3000;
/**
 * How often peers are asked for their generation. If the log is restored without this site, its
 * links may stay open, so no event shows that.
 */
const ASK_INTERVAL_MS = 5000;

export class RedFollower {
  readonly #context: RedFollowerContext;
  readonly #signal: AbortSignal;
  #red: RedGeneration;
  /**
   * The generation of the log copies on the disk. Until a new state was received, it is an earlier
   * generation.
   */
  #copy: number;
  /** What each log of that generation began with, after the first one. */
  #begins: readonly LogCopy[] | undefined;
  /** Whether `begin` was called. Before that, only `begin` starts the site. */
  #hasBegun = false;
  /** Settles when the site runs again. */
  #starting: Promise<void> | undefined;
  /** The last report that the log is sealed. */
  #reported: string | undefined;
  #sealCount = 0;
  /** The logs in which this site had no vote when it ran last. */
  #withoutVote: readonly number[] = [];

  constructor(
    { copy, begins, ...red }: StoredGeneration,
    context: RedFollowerContext,
    signal: AbortSignal,
  ) {
    this.#red = red;
    this.#copy = getCopyGeneration({ copy, ...red });
    this.#begins = begins ?? this.#findBegins(red, this.#copy);
    this.#context = context;
    this.#signal = signal;
    const timer = setInterval(() => this.askAll(), ASK_INTERVAL_MS).unref();
    signal.addEventListener('abort', () => clearInterval(timer));
  }

  get red(): RedGeneration {
    return this.#red;
  }

  /**
   * Whether the site is being stopped to seal the log. It is started again after that, so no other
   * code may restart it.
   */
  get isSealing(): boolean {
    return this.#sealCount > 0;
  }

  /** Why the site does not run while the log is sealed. */
  get sealedProblem(): string | undefined {
    if (this.#red.leader !== null) return undefined;
    return (
      `the red log is sealed for generation ${this.#red.generation}, and no site has opened it yet. ` +
      'All data is kept. Reads and writes go on once it is opened: repeat cluster restore-red'
    );
  }

  get #isRestarting(): boolean {
    return !this.#context.isRunning || this.#context.isTransferring || this.isSealing;
  }

  /** Answers a request about generations; returns `undefined` for another request. */
  answer(
    kind: string,
    body: unknown,
  ): Promise<ReadReply | NamedEntries | RedGeneration> | undefined {
    if (kind === READ_RED) return this.#read(isRecord(body) && body['isCopyAsked'] === true);
    if (kind === READ_NAMED) return this.#findNamed(body as NamedLog);
    if (kind === SEAL_RED) return this.#seal(parseRedGeneration(body));
    return kind === OPEN_RED ? this.#open(parseRedGeneration(body)) : undefined;
  }

  /** Follows the generation of the other sites. The copy on the disk came from one of them. */
  async adopt(): Promise<void> {
    await this.#askEach();
    this.#follow(this.#red, this.#red.generation);
  }

  /**
   * Starts the site once the log is open. Replaces the copy first if it may differ from the log.
   */
  begin(): Promise<void> {
    this.#hasBegun = true;
    return (this.#starting ??= this.#begin().finally(() => (this.#starting = undefined)));
  }

  async #begin(): Promise<void> {
    const fromMs = performance.now();
    let isCurrent = false;
    let red: RedGeneration | undefined;
    // The log may be sealed again while the copies are read.
    while (red !== this.#red) {
      await this.#waitUntilOpened(fromMs);
      red = this.#red;
      isCurrent = await this.#isCurrent();
    }
    this.#signal.throwIfAborted();
    if (!isCurrent) return this.#catchUp('while its log was sealed or its state was on the way');
    if (this.#copy !== this.#red.generation) this.#follow(this.#red, this.#red.generation);
    this.#context.releaseRoom();
    return this.#context.start();
  }

  async #waitUntilOpened(fromMs: number): Promise<void> {
    while (this.#red.leader === null) {
      this.#signal.throwIfAborted();
      this.#reportSealed(performance.now() - fromMs >= SEALED_ALARM_MS);
      await this.#askEach();
      if (this.#red.leader === null) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  #reportSealed(isLasting: boolean): void {
    const problem = this.sealedProblem;
    const report = `${problem} ${isLasting}`;
    if (problem === undefined || report === this.#reported) return;
    this.#reported = report;
    this.#context.onSealed(problem, isLasting);
  }

  /**
   * Called when the link to a peer is open. The peer may follow a generation that this site does
   * not know.
   */
  onConnected(peer: string): void {
    this.#followPeer(peer).catch((error: Error) => this.#context.onFailed(error));
  }

  /** Asks all connected peers for their generation. */
  askAll(): void {
    for (const peer of this.#context.getConnectedPeers()) this.onConnected(peer);
  }

  async #followPeer(peer: string): Promise<void> {
    if (this.#isRestarting) return;
    if (await this.#ask(peer)) await this.#catchUp('while the site was away');
  }

  #catchUp(when: string): Promise<void> {
    const { generation, leader } = this.#red;
    const message = `generation ${generation} of the red log began at ${leader} ${when}`;
    this.#context.releaseRoom();
    const to = { ...this.#red, copy: this.#copy, begins: this.#begins };
    return this.#context.catchUp(message, to, () => this.#follow(this.#red, generation));
  }

  /** Whether each copy on the disk is a prefix of its log. */
  async #isCurrent(): Promise<boolean> {
    if (this.#copy === this.#red.generation) return true;
    const logs = getLogs(this.#red);
    const copies = await this.#countCopies();
    return copies.every((copy, partition) => isPrefix(copy, logs[partition]?.base));
  }

  async #countCopies(): Promise<readonly LogCopy[]> {
    const found = { copy: this.#copy, begins: this.#begins };
    return toSiteCopies(found, await this.#context.countEntries());
  }

  async #describeCopies(): Promise<SiteCopies> {
    const [main, ...others] = await this.#countCopies();
    const copies = main as LogCopy;
    return others.length === 0 ? copies : { ...copies, others };
  }

  async #askEach(): Promise<void> {
    for (const peer of this.#context.getConnectedPeers()) await this.#ask(peer);
  }

  /** Returns whether the peer follows a generation that this node did not know. */
  async #ask(peer: string): Promise<boolean> {
    const isRestarting = this.#isRestarting;
    try {
      const red = parseRedGeneration(await this.#context.request(peer, READ_RED, null));
      // A site that was stopped meanwhile asks again when it starts.
      if (this.#isRestarting !== isRestarting || !isSuperseded(this.#red, red)) return false;
      this.#follow(red);
      return true;
    } catch {
      return false;
    }
  }

  #follow(red: RedGeneration, copy = this.#copy): void {
    const { generation, leader, base, opening, logs } = red;
    // Who seals a site does not know which logs all sites vote for.
    const isSealed = leader === null;
    const { votedByAll } = isSealed ? this.#red : red;
    const followed = {
      generation,
      leader,
      ...(base !== undefined && { base }),
      ...(opening !== undefined && { opening }),
      ...(logs !== undefined && { logs }),
      ...(votedByAll !== undefined && { votedByAll }),
    };
    const begins = this.#findBegins(followed, copy);
    // Write the file first: if the disk is full, the site continues as before.
    this.#context.save({
      ...followed,
      copy,
      ...(copy !== generation && begins !== undefined && { begins }),
    });
    this.#red = followed;
    this.#copy = copy;
    this.#begins = begins;
  }

  /** Returns what the logs of the generation `copy` began with. */
  #findBegins(red: RedGeneration, copy: number): readonly LogCopy[] | undefined {
    return copy === red.generation ? getBegins(red) : this.#begins;
  }

  /**
   * Returns the generation. Entries are counted and disk space is checked only for operators,
   * because both take long.
   */
  async #read(isCopyAsked: boolean): Promise<ReadReply> {
    const { isTransferring } = this.#context;
    if (!isCopyAsked) return { ...this.#red, isTransferring };
    if (!isTransferring) {
      const withoutVote = this.#findLogsWithoutVote();
      return {
        ...this.#red,
        isTransferring,
        problem: this.#findProblem(),
        ...(withoutVote.length > 0 && { withoutVote }),
      };
    }
    return { ...this.#red, isTransferring, own: await this.#describeCopies() };
  }

  /** A stopped site gets no new votes. So what it had when it ran is still true. */
  #findLogsWithoutVote(): readonly number[] {
    if (this.#context.isRunning) this.#withoutVote = this.#context.findLogsWithoutVote();
    return this.#withoutVote;
  }

  /** Only a sealed site has nothing more to come. */
  async #findNamed({ partition }: NamedLog): Promise<NamedEntries> {
    if (this.#red.leader !== null || this.isSealing) throw new Error('it is not sealed');
    return this.#context.findNamed(partition);
  }

  /** Returns the reason if the site could not start again after it is sealed. */
  #findProblem(): string | undefined {
    try {
      this.#context.reserveRoom();
      return undefined;
    } catch (error) {
      return `there is no room on its disk to start again (${(error as Error).message})`;
    } finally {
      this.#context.releaseRoom();
    }
  }

  async #seal({ generation }: RedGeneration): Promise<SealReply> {
    // A start follows the log that was open when it began. So let the site run, and stop it.
    await this.#context.waitForOpening();
    if (this.#context.isTransferring) throw new Error('it is taking the state of another site');
    // Refuse a number that was used already. Each attempt uses a new number, so of two concurrent
    // attempts, each one fails at the sites that the other has reached.
    if (generation <= this.#red.generation)
      throw new Error(`generation ${this.#red.generation} is known already`);
    this.#context.reserveRoom();
    this.#follow({ generation, leader: null });
    try {
      if (this.#context.isRunning) await this.#stop();
      const { copy, length, ...others } = await this.#describeCopies();
      return { generation, leader: null, length, copy, ...others };
    } finally {
      // Do this even after an error: the site runs again only if it asks the others for their
      // generation.
      if (this.#hasBegun) this.begin().catch((error: Error) => this.#context.onFailed(error));
    }
  }

  async #stop(): Promise<void> {
    this.#sealCount += 1;
    try {
      await this.#starting?.catch(() => {});
      await this.#context.stop();
    } finally {
      this.#sealCount -= 1;
    }
  }

  async #open(red: RedGeneration): Promise<RedGeneration> {
    if (isSuperseded(this.#red, red)) {
      if (this.#red.leader !== null) throw new Error('the log must be sealed before it is opened');
      this.#follow(red);
    } else if (this.#red.generation !== red.generation || this.#red.leader !== red.leader)
      throw new Error(
        `it follows generation ${this.#red.generation} already: restore the log again`,
      );
    // Wait only if the site starts soon: receiving a state may take long.
    if (await this.#isOpenSoon()) await this.#starting;
    return this.#red;
  }

  async #isOpenSoon(): Promise<boolean> {
    const { isRunning, isTransferring } = this.#context;
    return !isRunning && !isTransferring && this.#isCurrent();
  }
}
