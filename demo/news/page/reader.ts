/**
 * The visitor as a reader: the site to read from, the shown front page, and a session that moves
 * between sites.
 */
import { isCorrectableError, type Session } from 'correctables';
import { getMany } from 'correctables/operations';
import { CommentRoom, openRoom } from '../comment-room.ts';
import {
  arrangeThread,
  findFaults,
  KEYS,
  type Batch,
  type Comment,
  type Conversation,
  type ThreadFaults,
} from '../comments.ts';
import { showLatestNews } from '../front-page.ts';
import { FIRST_SITE, type Site } from '../sites.ts';
import { connectReader, type SiteClients } from './connections.ts';
import { addView, NOTHING_READ, type FrontPageReading } from './front-page-reading.ts';
import { OfflineSwitch } from './offline-switch.ts';
import type { MoveState, PostState, ThreadTimes } from './texts.ts';

const READ_EVERY_MS = 250;
const READ_ALL_EVERY_MS = 1_000;
/** The maximum number of own comments that are looked for. */
const OWN_MAX = 10;
const NO_FAULTS: ThreadFaults = { orphans: 0, missing: 0 };

/** A thread as one store shows it. */
export class ShownThread {
  conversations: readonly Conversation[] | undefined;
  faults = NO_FAULTS;
  /** How often the thread has become wrong. */
  timesWrong = 0;

  show(conversations: readonly Conversation[], ownIds: readonly string[]): void {
    const { faults } = this;
    this.conversations = conversations;
    this.faults = findFaults(conversations, ownIds);
    const isMore = this.faults.orphans > faults.orphans || this.faults.missing > faults.missing;
    if (isMore) this.timesWrong += 1;
  }

  /** Clears the thread, because another site has another copy. */
  clear(): void {
    this.conversations = undefined;
    this.faults = NO_FAULTS;
  }
}

export class NewsReader {
  readonly #writer: number;
  readonly #onChange: () => void;
  readonly #network = new OfflineSwitch();
  readonly #clients = new Map<Site, SiteClients>();
  #ownIds: readonly string[] = [];
  #session: Session;
  #posts = 0;
  /** Counts the moves. A result that was read at an earlier site is not shown. */
  #moves = 0;
  site: Site = FIRST_SITE;
  frontPage: FrontPageReading = NOTHING_READ;
  move: MoveState = { kind: 'settled' };
  post: PostState = { kind: 'idle' };
  readonly causal = new ShownThread();
  readonly copies = new ShownThread();
  /** How long each level of the causal store took in the latest complete read, in milliseconds. */
  threadMs: ThreadTimes = {};

  constructor(writer: number, onChange: () => void) {
    this.#writer = writer;
    this.#onChange = onChange;
    this.#session = this.#connect().comments.session();
  }

  get isOffline(): boolean {
    return this.#network.isOffline;
  }

  get name(): string {
    return `Guest ${this.#writer / 2 + 1}`;
  }

  isOwn({ id }: Comment): boolean {
    return this.#ownIds.includes(id);
  }

  /** Opens the front page, as if the application had just been started. */
  openFrontPage(): void {
    const move = this.#moves;
    let reading: FrontPageReading = NOTHING_READ;
    const show = (next: FrontPageReading): void => {
      if (move !== this.#moves) return;
      this.frontPage = reading = next;
      this.#onChange();
    };
    show(NOTHING_READ);
    const latestNews = showLatestNews(this.#connect().headlines, (view) =>
      show(addView(reading, view)),
    );
    if (this.isOffline) show({ ...reading, failure: 'offline' });
    latestNews.catch(() => show({ ...reading, failure: this.isOffline ? 'offline' : 'failed' }));
  }

  setOffline(isOffline: boolean): void {
    this.#network.set(isOffline);
    if (!isOffline) for (const { wake } of this.#clients.values()) wake();
    this.#moves += 1;
    this.openFrontPage();
  }

  /** Reads from another site from now on. The session is continued there by its token. */
  moveTo(site: Site): void {
    const { tokens } = this.#session;
    this.site = site;
    this.#moves += 1;
    this.#session = this.#connect().comments.session({ tokens });
    this.move = { kind: 'waiting', site };
    this.causal.clear();
    this.copies.clear();
    this.openFrontPage();
    void this.#settle(site, this.#moves);
  }

  async postComment(text: string, answerTo: string | undefined): Promise<boolean> {
    const { site } = this;
    const id = `${this.#writer}-${Date.now()}-${this.#posts++}`;
    const comment: Comment = { id, author: this.name, text, writtenAt: Date.now(), answerTo };
    const startedAt = performance.now();
    this.#setPost({ kind: this.isOffline ? 'queued' : 'sending' });
    try {
      // The plain copies get the same comment, at the same time.
      await Promise.all([this.#causalRoom().post(comment), this.#copyRoom().post(comment)]);
    } catch (error) {
      this.#setPost({ kind: toRefusal(error) });
      return false;
    }
    this.#ownIds = [...this.#ownIds, id].slice(-OWN_MAX);
    this.#setPost({ kind: 'sent', site, ms: performance.now() - startedAt });
    return true;
  }

  /** Reads repeatedly. Never ends. */
  async follow(): Promise<void> {
    await Promise.all([
      repeat(READ_EVERY_MS, () => this.#readNear()),
      repeat(READ_EVERY_MS, () => this.#readCopies()),
      repeat(READ_ALL_EVERY_MS, () => this.#readAllLevels()),
    ]);
  }

  async #readNear(): Promise<void> {
    // The first view may come from the cache.
    if (this.isOffline || this.move.kind === 'waiting' || this.causal.conversations === undefined)
      return;
    const move = this.#moves;
    const thread = await this.#causalRoom().readThread();
    if (move === this.#moves) this.#show(this.causal, thread);
  }

  async #readCopies(): Promise<void> {
    if (this.isOffline) return;
    const move = this.#moves;
    const thread = await this.#copyRoom().readThread();
    if (move === this.#moves) this.#show(this.copies, thread);
  }

  /**
   * Reads with one call at all levels. This also fills the cache of this device, which an offline
   * reader uses. It needs no session, because a site has everything that the session has seen
   * there.
   */
  async #readAllLevels(): Promise<void> {
    if (this.move.kind === 'waiting') return;
    const move = this.#moves;
    const { comments } = this.#connect();
    if (this.isOffline) {
      const stored = await comments.invokeWeak(getMany<Batch>(KEYS));
      if (move === this.#moves) this.#show(this.causal, arrangeThread(stored));
      return;
    }
    const startedAt = performance.now();
    const read = comments.invoke(getMany<Batch>(KEYS));
    const levelsMs: Partial<Record<string, number>> = {};
    read.subscribe({
      next: ({ level, value }) => {
        if (move !== this.#moves) return;
        levelsMs[level] = performance.now() - startedAt;
        this.threadMs = { ...levelsMs };
        // Show only the first view: the other loop shows later views sooner.
        if (this.causal.conversations === undefined) this.#show(this.causal, arrangeThread(value));
      },
      error: () => {},
    });
    await read;
  }

  /**
   * Waits until the new site has what the session has seen, however long a cut line keeps it back.
   */
  async #settle(site: Site, move: number): Promise<void> {
    const startedAt = performance.now();
    for (;;) {
      try {
        const thread = await this.#causalRoom().readThread();
        if (move !== this.#moves) return;
        const hasOwn = this.#ownIds.length > 0;
        this.move = { kind: 'arrived', site, ms: performance.now() - startedAt, hasOwn };
        return this.#show(this.causal, thread);
      } catch {
        // After `REPLICA_BEHIND`, or without a connection, repeat the read in the same session.
        if (move !== this.#moves) return;
      }
    }
  }

  #show(thread: ShownThread, conversations: readonly Conversation[]): void {
    thread.show(conversations, this.#ownIds);
    this.#onChange();
  }

  #setPost(state: PostState): void {
    this.post = state;
    this.#onChange();
  }

  #connect(): SiteClients {
    const { site } = this;
    const clients = this.#clients.get(site) ?? connectReader(site, this.#network.WebSocket);
    this.#clients.set(site, clients);
    return clients;
  }

  #causalRoom(): CommentRoom {
    const { comments } = this.#connect();
    const session = this.#session;
    return new CommentRoom({
      site: this.site,
      writer: this.#writer,
      read: (operation) => comments.invoke(operation, { session, levels: ['causal'] }),
      write: (operation) => comments.invoke(operation, { session }),
    });
  }

  #copyRoom(): CommentRoom {
    return openRoom({ site: this.site, writer: this.#writer, client: this.#connect().copies });
  }
}

function toRefusal(error: unknown): 'refused' | 'unknown' | 'behind' {
  if (isCorrectableError(error, 'REPLICA_BEHIND')) return 'behind';
  return isCorrectableError(error, 'UNKNOWN') ? 'unknown' : 'refused';
}

/** Repeats `run`, even if it fails: the state of the connection shows the problem. */
async function repeat(everyMs: number, run: () => Promise<void>): Promise<never> {
  for (;;) {
    await run().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
