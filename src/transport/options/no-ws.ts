/**
 * Replaces the package `ws` outside Node (`imports` of package.json). Browsers have a WebSocket of
 * their own.
 */
export const WebSocket: undefined = undefined;
