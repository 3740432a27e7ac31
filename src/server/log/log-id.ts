/** What a log of a site is for: the site's own entries, or its copy of the red order. */
export type LogKind = 'local' | 'red';

/** Both kinds, in the order in which what is done to all of them is done. */
export const LOG_KINDS = ['local', 'red'] as const;
