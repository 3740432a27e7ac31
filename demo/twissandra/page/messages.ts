/** The texts of the timelines' page. */
import type { PageMessages } from '../../shared/page/messages.ts';

export const timelineWords: PageMessages = {
  title: 'Timelines',
  lede: 'New tweets, fetched before it is certain which.',
  watch:
    'with early answers, the tweets are fetched while the timeline is still on the way to be confirmed, so they are ' +
    'delivered earlier. If someone posts meanwhile, the early work is canceled and the right tweets are delivered.',
  things: 'tweets',
  fetch: 'Read the timeline',
  fetchAndChange: 'Read, and post a tweet meanwhile',
  explanation:
    'A timeline names tweets, and it should be the newest one. Without early answers, this browser waits for the ' +
    '<em>confirmed</em> timeline, a trip over the wide area, and then fetches the tweets. With them it takes the ' +
    '<em>early</em> timeline of the site next door and fetches its tweets at once, while the confirmed one is on its ' +
    'way. Nearly always it is the same, and the tweets are there already. If it is not, the early work is canceled and ' +
    'the right tweets are fetched. Tweets are posted at one site at once, and reach the others after that: the confirmed ' +
    'timeline is the one that the site has after the trip, and a tweet that was posted elsewhere meanwhile may still be ' +
    'on its way.',
  source:
    'After <cite>Incremental Consistency Guarantees for Replicated Objects</cite> (Correctables, OSDI 2016), §6.3.1 and ' +
    'Figure 11.',
};
