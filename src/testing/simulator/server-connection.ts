/** How a simulated site reaches the server that keeps its red log, where one does. */
import type { ServerRequest } from '../../server/log/red-log.ts';

/** A start's connection to the server of its red log. */
export interface ServerConnection {
  request(request: ServerRequest): void;
  /** Requests that were sent may still take effect. */
  close(): void;
}
