/** What the timelines' page says. */
import type { PageMessages } from '../../shared/page/messages.ts';

export const timelineWords: PageMessages = {
  title: 'Timelines',
  lede: 'New tweets, fetched before it is certain which.',
  things: 'tweets',
  fetch: 'Read the timeline',
  fetchAndChange: 'Read, and post a tweet meanwhile',
  explanation:
    'A timeline names tweets, and it should be the newest one. Without speculation, this browser waits for the ' +
    '<em>final</em> timeline, a trip over the wide area, and then fetches the tweets. With speculation it takes the ' +
    '<em>preliminary</em> timeline of the site next door and fetches its tweets at once, while the final one is on its ' +
    'way. Nearly always it is the same, and the tweets are there already. If it is not, the prefetch is cancelled and ' +
    'the right tweets are fetched. Tweets are posted at one site at once, and reach the others after that: the final ' +
    'timeline is the one that the site has after the trip, and a tweet that was posted elsewhere meanwhile may still be ' +
    'on its way.',
  source:
    'After <cite>Incremental Consistency Guarantees for Replicated Objects</cite> (Correctables, OSDI 2016), §6.3.1 and ' +
    'Figure 11.',
};
