/** The demos of this package, as the start page offers them. Their code is loaded when one is opened, not before. */

/** A demo that is running. */
export interface RunningDemo {
  readonly url: string;
  close(): Promise<void>;
}

export interface Demo {
  /** Part of its address on the start page. */
  readonly name: string;
  readonly title: string;
  readonly about: string;
  /** Where the idea comes from. */
  readonly paper: string;
  /** Starts it on any free port of the loopback interface. */
  start(): Promise<RunningDemo>;
}

/** The share of the papers' data that loads within seconds. */
const SCALE = { ads: 0.02, timelines: 0.05 } as const;
const ANY_PORT = 0;
const SEED = 1;

export const demos: readonly Demo[] = [
  {
    name: 'tickets',
    title: 'Ticket shop',
    about:
      'One stock of tickets, sold from three sites at once. Customers get a yes on the early view while plenty are left; the last few wait for the final one. Move the threshold, cut a site off, send a rush of customers.',
    paper: 'Correctables, OSDI 2016, Listing 5 and Figure 12',
    start: async () => (await import('../tickets/server.ts')).startShop({ port: ANY_PORT }),
  },
  {
    name: 'cluster',
    title: 'Kill a site',
    about:
      'The same sale, with each site a process of its own. Kill one, freeze it or cut it off in the middle of a sale: its customers go on at another site, and no ticket is sold twice.',
    paper: 'Correctables, OSDI 2016, and RedBlue, OSDI 2012',
    start: async () => {
      const { startClusterPage } = await import('../cluster/page-server.ts');
      return startClusterPage({ port: ANY_PORT, wan: 'paper' });
    },
  },
  {
    name: 'ads',
    title: 'Ad server',
    about:
      'Ads are fetched in your browser on the early view of which ones they are, while the final view is on its way. Change them in between and see the prefetch cancelled.',
    paper: 'Correctables, OSDI 2016, Listing 4 and Figure 11',
    start: async () => {
      const { startAdPage } = await import('../ad-server/page-server.ts');
      return startAdPage({ port: ANY_PORT, wan: 'paper', scale: SCALE.ads, seed: SEED });
    },
  },
  {
    name: 'twissandra',
    title: 'Timelines',
    about: 'The tweets of a timeline, fetched before it is certain which ones they are.',
    paper: 'Correctables, OSDI 2016, §6.3.1 and Figure 11',
    start: async () => {
      const { startTimelinePage } = await import('../twissandra/page-server.ts');
      return startTimelinePage({ port: ANY_PORT, wan: 'paper', scale: SCALE.timelines, seed: SEED });
    },
  },
];
