/** What a node calls. */
export interface NodeEvents<Node> {
  /** The links are open, and the site does not run yet. No other site has got a request of this one. */
  onOpening?(node: Node): Promise<void>;
  /** Before the first start: these sites have not answered yet. */
  onWaiting?(sites: readonly string[]): void;
  /** Before the site can begin or go on: what it waits for, or how far the state of another site has come. */
  onProgress?(message: string): void;
  /** The site runs: at the start, and each time that it was started again. */
  onStarted?(node: Node): Promise<void>;
  /** The site is about to be stopped, and will be started again. Clients should move to other sites. */
  onStopping?(node: Node): Promise<void>;
  /** The site has failed. Clients should move to other sites. */
  onFailed?(): void;
}
