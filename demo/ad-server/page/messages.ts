/** The texts of the ad server's page. */
import type { PageMessages } from '../../shared/page/messages.ts';

export const adWords: PageMessages = {
  title: 'Ad server',
  lede: 'Ads, fetched before it is certain which.',
  watch:
    'with early answers, the ads are fetched while their references are still on the way to be confirmed, so they are ' +
    'delivered earlier. If the references change meanwhile, the early work is canceled and the right ads are delivered.',
  things: 'ads',
  fetch: 'Fetch ads',
  fetchAndChange: 'Fetch, and change the references meanwhile',
  explanation:
    'A profile refers to ads, and the references should be fresh. Without early answers, this browser waits for the ' +
    '<em>confirmed</em> references, a trip over the wide area, and then fetches the ads. With them it takes the ' +
    '<em>early</em> references of the site next door and fetches the ads at once, while the confirmed references are ' +
    'on their way. Nearly always they are the same, and the ads are there already. If they are not, the early work is ' +
    'canceled and the right ads are fetched: no user is shown an ad that the confirmed references do not name. References ' +
    'are changed at one site at once, and reach the others after that: the confirmed ones are those that the site has after ' +
    'the trip, and a change that was made elsewhere meanwhile may still be on its way.',
  source:
    'After <cite>Incremental Consistency Guarantees for Replicated Objects</cite> (Correctables, OSDI 2016), Listing 4 ' +
    'and Figure 11.',
};
