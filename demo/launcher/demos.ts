/**
 * The demos of this package, as the start page offers them. Their code is loaded when one is
 * opened, not before.
 */

import type { Break } from '../landing/page/controls.ts';
import type { ShownCode } from './demo-code.ts';

/** A demo that is running. */
export interface RunningDemo {
  readonly url: string;
  close(): Promise<void>;
}

export interface Demo {
  /** Its name, a part of its address on the start page. */
  readonly name: string;
  readonly title: string;
  readonly about: string;
  /** The paper with the idea. */
  readonly paper: string;
  /** The page of the documentation that explains it, as a path of a checkout. */
  readonly docs?: string;
  /** The file to read first, as a path of a checkout. */
  readonly source?: string;
  /** The functions whose code its page shows: those with early answers and those without. */
  readonly code?: readonly ShownCode[];
  /** The faults of the landing demo that this demo shows in detail. */
  readonly breaks?: readonly Break[];
  /** Starts it on any free port of the loopback interface. */
  start(): Promise<RunningDemo>;
}

const TICKET_CODE: readonly ShownCode[] = [
  { title: 'Without early answers', file: 'demo/tickets/purchase.ts', name: 'sellWhenConfirmed' },
  { title: 'With early answers', file: 'demo/tickets/purchase.ts', name: 'sellEarly' },
];

/** The share of the papers' data that loads within seconds. */
const SCALE = { ads: 0.02, timelines: 0.05 } as const;
const ANY_PORT = 0;
const SEED = 1;

export const demos: readonly Demo[] = [
  {
    name: 'tickets',
    title: 'Ticket shop',
    about:
      'One stock of tickets, sold from three sites at once. Customers get a yes on the early answer while plenty are left; the last few wait for the confirmed one. Move the threshold, cut a site off, send a rush of customers.',
    paper: 'Correctables, OSDI 2016, Listing 5 and Figure 12',
    docs: '/docs/guides/decide-early.md',
    source: '/demo/tickets/purchase.ts',
    code: TICKET_CODE,
    breaks: ['last'],
    start: async () => (await import('../tickets/server.ts')).startShop({ port: ANY_PORT }),
  },
  {
    name: 'bank',
    title: 'Bank',
    about:
      'Two tellers at two sites move money by transactions. Balances change on the early answer, before the commit travels. Let both spend the same last money: one of them is taken back, and the total never changes.',
    paper: 'Scalable Deferred Update Replication, DSN 2013, and Correctables, OSDI 2016',
    docs: '/docs/guides/transactions.md',
    source: '/demo/bank/transfer.ts',
    code: [
      {
        title: 'One transfer: a transaction of two accounts',
        file: 'demo/bank/transfer.ts',
        name: 'transfer',
      },
      {
        title: 'The total: a strong transaction that only reads',
        file: 'demo/bank/transfer.ts',
        name: 'readTotal',
      },
    ],
    start: async () => (await import('../bank/server.ts')).startBank({ port: ANY_PORT }),
  },
  {
    name: 'social',
    title: 'Social network',
    about:
      'Users of two regions post and follow, and each region has a red log near it. A post waits for one log next door. A follow between regions waits for two, and holds a row meanwhile. No strong read shows half of it.',
    paper: 'Scalable Deferred Update Replication, DSN 2013, §VI',
    docs: '/docs/redblue/partitions.md',
    source: '/demo/social/service.ts',
    code: [
      {
        title: 'A timeline: one snapshot, no log',
        file: 'demo/social/network.ts',
        name: 'readTimeline',
      },
      { title: 'A post or a follow: one operation', file: 'demo/social/network.ts', name: 'send' },
    ],
    start: async () => (await import('../social/server.ts')).startNetwork({ port: ANY_PORT }),
  },
  {
    name: 'cluster',
    title: 'Three processes',
    about:
      'The ticket sale again, with each site a process of its own. Kill one, freeze it or cut it off in the middle of a sale: its customers go on at another site, and no ticket is sold twice.',
    paper: 'Correctables, OSDI 2016, and RedBlue, OSDI 2012',
    docs: '/docs/operate/run-a-server.md',
    source: '/demo/cluster/cluster.ts',
    code: TICKET_CODE,
    breaks: ['cut'],
    start: async () => {
      const { startClusterPage } = await import('../cluster/page-server.ts');
      return startClusterPage({ port: ANY_PORT, wan: 'paper' });
    },
  },
  {
    name: 'kill',
    title: 'Kill the server',
    about:
      'A server that acknowledges writes once they are on disk. Kill its process in the middle of its work: it starts again, and every acknowledged write is there.',
    paper: 'RedBlue, OSDI 2012',
    docs: '/docs/operate/data-directory.md',
    source: '/demo/kill/live.ts',
    code: [
      {
        title: 'One write: it counts once the server has acknowledged it',
        file: 'demo/kill/load.ts',
        name: '#send',
      },
    ],
    start: async () => (await import('../kill/page-server.ts')).startKillPage({ port: ANY_PORT }),
  },
  {
    name: 'ads',
    title: 'Ad server',
    about:
      'Your browser fetches ads on the early answer to which ones they are, while the confirmed answer is on its way. Change them in between and see the early work thrown away.',
    paper: 'Correctables, OSDI 2016, Listing 4 and Figure 11',
    docs: '/docs/guides/speculation.md',
    source: '/demo/ad-server/ad-server.ts',
    code: [
      {
        title: 'Without early answers',
        file: 'demo/ad-server/ad-server.ts',
        name: 'fetchAdsStrongly',
      },
      {
        title: 'With early answers',
        file: 'demo/ad-server/ad-server.ts',
        name: 'fetchAdsByUserId',
      },
    ],
    breaks: ['stale'],
    start: async () => {
      const { startAdPage } = await import('../ad-server/page-server.ts');
      return startAdPage({ port: ANY_PORT, wan: 'paper', scale: SCALE.ads, seed: SEED });
    },
  },
  {
    name: 'news',
    title: 'News reader',
    about:
      'One call shows the headlines from your device at once, then fresh from the near site, then confirmed. Below them, comments keep causal order: cut a line, go offline, or move to another site, and no answer comes before its question.',
    paper:
      'Correctables, OSDI 2016, Listing 6, and Causal Consistency and Latency Optimality, VLDB 2018',
    docs: '/docs/bindings/causal.md',
    source: '/demo/news/front-page.ts',
    code: [
      {
        title: 'The front page: one call, a view for each level',
        file: 'demo/news/front-page.ts',
        name: 'showLatestNews',
      },
      {
        title: 'A comment: one key for each writer',
        file: 'demo/news/comment-room.ts',
        name: 'post',
      },
    ],
    start: async () => (await import('../news/server.ts')).startNews({ port: ANY_PORT }),
  },
  {
    name: 'twissandra',
    title: 'Timelines',
    about:
      'Your browser fetches the tweets on the early answer to which ones they are. Post one in between and see the early work thrown away.',
    paper: 'Correctables, OSDI 2016, §6.3.1 and Figure 11',
    docs: '/docs/guides/speculation.md',
    source: '/demo/twissandra/timelines.ts',
    code: [
      {
        title: 'Without early answers',
        file: 'demo/twissandra/timelines.ts',
        name: 'getTimelineStrongly',
      },
      { title: 'With early answers', file: 'demo/twissandra/timelines.ts', name: 'getTimeline' },
    ],
    start: async () => {
      const { startTimelinePage } = await import('../twissandra/page-server.ts');
      return startTimelinePage({
        port: ANY_PORT,
        wan: 'paper',
        scale: SCALE.timelines,
        seed: SEED,
      });
    },
  },
];
