/**
 * The news without a page: a reader in Sydney opens the front page, watches Ann and Bob while the
 * line to Dublin is cut, and moves between the sites.
 */
import { createClient, type AnyClient, type Session } from 'correctables';
import { cached, mapStore } from 'correctables/bindings/cache';
import type { CausalLevels } from 'correctables/bindings/causal';
import { redblue } from 'correctables/bindings/redblue';
import { remote } from 'correctables/bindings/remote';
import { WebSocket } from 'ws';
import { percentilesOf, type Percentiles } from '../tickets/verify/percentiles.ts';
import { openRoom, type CommentRoom } from './comment-room.ts';
import { findFaults } from './comments.ts';
import { news } from './contract.ts';
import { converse, writeScript } from './conversation.ts';
import { showLatestNews, type NewsLevels, type NewsView } from './front-page.ts';
import { chooseHeadline } from './headlines.ts';
import type { Options } from './options.ts';
import { COPY_LEVELS } from './plain-copies.ts';
import { startStores, type RunningNews } from './server.ts';
import { NEWSROOM, type Site } from './sites.ts';

const CAUSAL_LEVELS: CausalLevels = ['causal', 'latest'];
const OPENINGS = 10;
const MOVES = 10;
/** The number of reads of each store while an answer may be visible without its question. */
const READS_WHILE_CUT = 20;
const READ_EVERY_MS = 10;
const VISITOR = 0;
const PEOPLE = 1;

export interface Figures {
  /** How long each view of the front page took, in milliseconds. */
  readonly frontPage: Readonly<Record<'cacheMs' | 'causalMs' | 'strongMs', Percentiles>>;
  /** How many headlines only the view at `strong` had. */
  readonly headlinesAtStrongOnly: number;
  readonly conversations: number;
  /** How many reads showed an answer without its question. */
  readonly wrongReads: Readonly<Record<'causal' | 'copies', number>>;
  /** Reads of each store. */
  readonly reads: number;
  readonly moves: {
    readonly count: number;
    /** How long the session had to wait at the new site, in milliseconds. */
    readonly waitMs: Percentiles;
    /** How often the reader's own comment was missing afterwards. */
    readonly ownMissing: Readonly<Record<'causal' | 'copies', number>>;
  };
  /** Whether the causal store has shown nothing out of order. */
  readonly isInOrder: boolean;
}

/** Runs the scenario. `progress` gets lines for a person. */
export async function readHeadless(
  { conversations, delays, hasRedis }: Pick<Options, 'conversations' | 'delays' | 'hasRedis'>,
  progress: (text: string) => void,
): Promise<Figures> {
  const stores = await startStores({ delays, hasRedis });
  const visit = new Visit(stores);
  try {
    const frontPage = await visit.openFrontPage();
    progress(`opened the front page ${OPENINGS} times, while Dublin published`);
    const thread = await visit.watchConversations(conversations);
    progress(`watched ${conversations} conversations while the line Dublin–Sydney was cut`);
    const moves = await visit.moveAround();
    progress(`moved ${MOVES} times between Dublin and Sydney`);
    const isInOrder = thread.wrongReads.causal === 0 && moves.ownMissing.causal === 0;
    return { ...frontPage, conversations, ...thread, moves, isInOrder };
  } finally {
    await visit.close();
    await stores.close();
  }
}

export function formatReport(figures: Figures): string {
  const { frontPage, headlinesAtStrongOnly, conversations, wrongReads, reads, moves, isInOrder } =
    figures;
  const { cacheMs, causalMs, strongMs } = frontPage;
  return [
    'Front page, one call with three views, median:',
    `  this device ${cacheMs.p50} ms, near site ${causalMs.p50} ms, confirmed ${strongMs.p50} ms`,
    `  headlines that only the confirmed view had: ${headlinesAtStrongOnly} in ${OPENINGS} openings`,
    `Comments, ${conversations} conversations, ${reads} reads in Sydney of each store:`,
    `  reads with an answer without its question: in causal order ${wrongReads.causal}, plain copies ${wrongReads.copies}`,
    `Moves between Dublin and Sydney, ${moves.count} after a comment of one's own:`,
    `  the new site waited ${moves.waitMs.p50} ms (median) for what the session had seen`,
    `  own comment missing: in causal order ${moves.ownMissing.causal}, plain copies ${moves.ownMissing.copies}`,
    isInOrder ? 'Verdict: causal order was kept.' : 'Verdict: CAUSAL ORDER WAS BROKEN.',
  ].join('\n');
}

class Visit {
  readonly #stores: RunningNews;
  readonly #clients: AnyClient[] = [];

  constructor(stores: RunningNews) {
    this.#stores = stores;
  }

  async openFrontPage(): Promise<Pick<Figures, 'frontPage' | 'headlinesAtStrongOnly'>> {
    const binding = redblue(news, { url: this.#stores.storeUrl('headlines', 'sydney'), WebSocket });
    const reader = this.#keep(
      createClient(cached(binding, { principal: 'reader', store: mapStore() })),
    );
    const newsroom = this.#keep(
      createClient(redblue(news, { url: this.#stores.storeUrl('headlines', NEWSROOM), WebSocket })),
    );
    const views: NewsView[] = [];
    let shown = await showLatestNews(reader, () => {});
    let headlinesAtStrongOnly = 0;
    for (let opening = 0; opening < OPENINGS; opening += 1) {
      const published = newsroom.invoke(news.publish(chooseHeadline(shown)));
      const early = new Set<string>();
      shown = await showLatestNews(reader, (view) => {
        views.push(view);
        if (view.level !== 'strong') for (const { id } of view.stories) early.add(id);
      });
      headlinesAtStrongOnly += shown.filter(({ id }) => !early.has(id)).length;
      await published;
    }
    const measure = (level: NewsLevels[number]): Percentiles =>
      percentilesOf(views.filter((view) => view.level === level).map(({ ms }) => ms));
    const frontPage = {
      cacheMs: measure('cache'),
      causalMs: measure('causal'),
      strongMs: measure('strong'),
    };
    return { frontPage, headlinesAtStrongOnly };
  }

  async watchConversations(count: number): Promise<Pick<Figures, 'wrongReads' | 'reads'>> {
    const { line } = this.#stores;
    const ann = {
      causal: this.#openCausalRoom('dublin', PEOPLE),
      copies: this.#openCopyRoom('dublin', PEOPLE),
    };
    const bob = {
      causal: this.#openCausalRoom('oregon', PEOPLE),
      copies: this.#openCopyRoom('oregon', PEOPLE),
    };
    const reader = {
      causal: this.#openCausalRoom('sydney', VISITOR),
      copies: this.#openCopyRoom('sydney', VISITOR),
    };
    const wrongReads = { causal: 0, copies: 0 };
    let reads = 0;
    const read = async (): Promise<void> => {
      const [causal, copies] = await Promise.all([
        reader.causal.readThread(),
        reader.copies.readThread(),
      ]);
      reads += 1;
      if (findFaults(causal, []).orphans > 0) wrongReads.causal += 1;
      if (findFaults(copies, []).orphans > 0) wrongReads.copies += 1;
    };
    for (let number = 0; number < count; number += 1) {
      const script = writeScript(number, `${number}`, Date.now());
      await line.cut();
      await Promise.all([
        converse(ann.causal, bob.causal, script),
        converse(ann.copies, bob.copies, script),
      ]);
      for (let at = 0; at < READS_WHILE_CUT; at += 1) {
        await read();
        await pause(READ_EVERY_MS);
      }
      await line.repair();
      while (
        !(await reader.causal.readThread()).some(
          ({ question }) => question?.id === script.question.id,
        )
      )
        await read();
    }
    return { wrongReads, reads };
  }

  async moveAround(): Promise<Figures['moves']> {
    const waits: number[] = [];
    const ownMissing = { causal: 0, copies: 0 };
    let tokens: readonly string[] = [];
    for (let move = 0; move < MOVES; move += 1) {
      const [from, to]: readonly [Site, Site] =
        move % 2 === 0 ? ['dublin', 'sydney'] : ['sydney', 'dublin'];
      const comment = {
        id: `own-${move}`,
        author: 'Guest',
        text: 'I was here',
        writtenAt: Date.now(),
      };
      const here = this.#openMovingRoom(from, tokens);
      await Promise.all([here.room.post(comment), this.#openCopyRoom(from, VISITOR).post(comment)]);
      ({ tokens } = here.session);
      const startedAt = performance.now();
      const [causal, copies] = await Promise.all([
        this.#openMovingRoom(to, tokens).room.readThread(),
        this.#openCopyRoom(to, VISITOR).readThread(),
      ]);
      waits.push(performance.now() - startedAt);
      ownMissing.causal += findFaults(causal, [comment.id]).missing;
      ownMissing.copies += findFaults(copies, [comment.id]).missing;
    }
    return { count: MOVES, waitMs: percentilesOf(waits), ownMissing };
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  #openCausalRoom(site: Site, writer: number): CommentRoom {
    return this.#openMovingRoom(site, [], writer).room;
  }

  #openMovingRoom(
    site: Site,
    tokens: readonly string[],
    writer = VISITOR,
  ): { readonly room: CommentRoom; readonly session: Session } {
    const url = this.#stores.storeUrl('comments', site);
    const client = this.#keep(
      createClient(remote({ url, levels: CAUSAL_LEVELS, hasSessions: true, WebSocket })),
    );
    const session = client.session({ tokens });
    return { room: openRoom({ site, writer, client, session }), session };
  }

  #openCopyRoom(site: Site, writer: number): CommentRoom {
    const url = this.#stores.storeUrl('copies', site);
    return openRoom({
      site,
      writer,
      client: this.#keep(createClient(remote({ url, levels: COPY_LEVELS, WebSocket }))),
    });
  }

  #keep<C extends AnyClient>(client: C): C {
    this.#clients.push(client);
    return client;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
