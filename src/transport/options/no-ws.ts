/**
 * Stands in for the package `ws` outside Node (`imports` of package.json):
 * browsers have a WebSocket of their own.
 */
export const WebSocket: undefined = undefined;
