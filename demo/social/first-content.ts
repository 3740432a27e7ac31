/**
 * What the users of the page have done before a visitor comes, so that timelines and logs are not
 * empty.
 */
import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { WebSocket } from 'ws';
import { social } from './contract.ts';
import { act, type Action } from './network.ts';
import { REGION_SITES, REGIONS, type Region, type Site } from './regions.ts';

/**
 * The actions of the users of each region. Ada and Eve follow someone of each region, and can still
 * both follow Finn.
 */
export const FIRST_ACTIONS: Readonly<Record<Region, readonly Action[]>> = {
  eu: [
    { kind: 'post', author: 'eu/cleo', text: 'The trams are running again.' },
    { kind: 'post', author: 'eu/dan', text: 'Who has a spare umbrella?' },
    { kind: 'follow', follower: 'eu/ada', followed: 'eu/cleo' },
    { kind: 'follow', follower: 'eu/ada', followed: 'us/gus' },
  ],
  us: [
    { kind: 'post', author: 'us/gus', text: 'Pancakes for breakfast.' },
    { kind: 'post', author: 'us/hana', text: 'The library is open until ten.' },
    { kind: 'follow', follower: 'us/eve', followed: 'us/hana' },
    { kind: 'follow', follower: 'us/eve', followed: 'eu/dan' },
  ],
};

/** Lets the users of both regions act, beside sites at these addresses. */
export async function addFirstContent(siteUrl: (site: Site) => string): Promise<void> {
  await Promise.all(REGIONS.map((region) => actIn(region, siteUrl(REGION_SITES[region][0]))));
}

async function actIn(region: Region, url: string): Promise<void> {
  const client = createClient(redblue(social, { url, WebSocket }));
  try {
    for (const action of FIRST_ACTIONS[region]) await act(client, action);
  } finally {
    await client.close();
  }
}
