/** First segments of paths that no site can have as its name. */
export const HTTP_PATHS: readonly string[] = ['health', 'ready', 'sites', 'metrics'];
