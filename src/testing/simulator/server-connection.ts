/** How a simulated site reaches the server that keeps its red log, where one does. */
import type { ServerRequest } from '../../server/log/red-log.ts';

/** A start's connection to the server of its red log. */
export interface ServerConnection {
  request(request: ServerRequest): void;
  /** What has been sent may take effect all the same. */
  close(): void;
}
