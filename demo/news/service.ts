/**
 * The headlines as a service of the RedBlue backend.
 *
 * Publishing is red, as with the primary of the paper: all sites have the same order, and a read at
 * `strong` has each headline that was published before it began.
 */
import { defineService, log, shadow, table } from 'correctables/server';
import { MAX_HEADLINES, news, type Story } from './contract.ts';

const FRONT_PAGE = 'front';

export const service = defineService(news, {
  tables: { pages: table({ stories: log<Story>() }) },
  shadowOperations: ({ pages }) => ({
    publish: shadow((story: Story) => [pages.row(FRONT_PAGE).stories.append(story)]),
  }),
  colors: { publish: 'red' },
  generators: {
    getLatestNews: (_args, { tables }) =>
      tables.pages.row(FRONT_PAGE).stories.slice(-MAX_HEADLINES).toReversed(),
    publish: ({ headline, place }, { shadow, uniqueId }) => {
      const story = { id: uniqueId(), headline, place };
      return shadow.publish(story, story);
    },
  },
});
