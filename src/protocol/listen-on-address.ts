/**
 * Listens on an address that may not exist yet. A process that is started at boot may run before
 * the network is ready: its address may not be assigned yet, or the name server may not know its
 * name yet.
 */

/** What a server of Node has for this: `node:net`, `node:http`, `node:tls`. */
export interface ListeningServer {
  once(event: 'listening', handler: () => void): unknown;
  once(event: 'error', handler: (error: Error) => void): unknown;
  off(event: 'listening', handler: () => void): unknown;
  off(event: 'error', handler: (error: Error) => void): unknown;
  listen(port: number, host: string): unknown;
}

/** The address to listen on, and what to call while it is missing. */
export interface ListenPlace {
  readonly host: string;
  readonly port: number;
  /** Called once with the reason if it has to wait. */
  readonly onWaiting?: ((message: string) => void) | undefined;
  /** How long to wait for the address, in milliseconds. Default: 30 000 */
  readonly maxWaitMs?: number | undefined;
}

const MAX_WAIT_MS = 30_000;
const RETRY_INTERVAL_MS = 500;
const MS_PER_S = 1000;

/** Temporary problems, by the code of the system's error. */
const PASSING_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'this machine does not have the address yet',
  ENOTFOUND: 'its name is not known yet',
  EAI_AGAIN: 'no name server answers yet',
};

/**
 * Listens on the address. Rejects with the system's error: at once, or after `maxWaitMs` if the
 * problem may be temporary.
 */
export async function listenOnAddress(server: ListeningServer, place: ListenPlace): Promise<void> {
  const { host, port, onWaiting, maxWaitMs = MAX_WAIT_MS } = place;
  const untilMs = performance.now() + maxWaitMs;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await listen(server, host, port);
    } catch (error) {
      const problem = PASSING_PROBLEMS[(error as { readonly code?: string }).code ?? ''];
      if (problem === undefined || performance.now() + RETRY_INTERVAL_MS > untilMs) throw error;
      const cause = (error as Error).message;
      const wait = `Waiting up to ${maxWaitMs / MS_PER_S} s for it`;
      if (attempt === 0) onWaiting?.(`cannot listen on ${host}: ${problem} (${cause}). ${wait}.`);
      await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
    }
  }
}

/**
 * Tries to listen once. Removes its event listeners afterwards, because one server may be tried
 * many times.
 */
function listen(server: ListeningServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const onListening = (): void => {
      server.off('error', onError);
      resolve();
    };
    const onError = (error: Error): void => {
      server.off('listening', onListening);
      reject(error);
    };
    server.once('listening', onListening);
    server.once('error', onError);
    server.listen(port, host);
  });
}
