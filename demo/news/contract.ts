/**
 * The operations of the news reader's store (Correctables, OSDI 2016, §4.4). A page imports this
 * file, never the service.
 */
import { defineContract } from 'correctables/contract';
import * as z from 'zod';

const storySchema = z.object({ id: z.string(), headline: z.string(), place: z.string() });
export type Story = z.infer<typeof storySchema>;

/** The number of headlines on the front page. */
export const MAX_HEADLINES = 5;

export const news = defineContract('news', {
  getLatestNews: {
    access: 'read',
    args: z.null(),
    result: z.array(storySchema).max(MAX_HEADLINES),
    key: () => 'front-page',
  },
  publish: {
    access: 'write',
    args: z.object({ headline: z.string().min(1).max(120), place: z.string().min(1).max(40) }),
    result: storySchema,
    key: () => 'front-page',
  },
});
