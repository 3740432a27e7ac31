/**
 * Connects to the first contact point that answers.
 *
 * The driver tries its contact points one after the other, and waits for each as long as for a
 * request. So each contact point gets a client of its own, and the next one starts when the one
 * before has failed or is late.
 */
import type { ServerAddress } from '../shared/server-address.ts';
import type { DriverClient } from './driver.ts';
import { NoNodeError } from './errors.ts';
import { formatAddress } from '../shared/server-address.ts';

export interface ClientAttempt {
  readonly client: DriverClient;
}

/** How long a contact point may take before the next one is tried too. */
const LATE_AFTER_MS = 1_000;

/**
 * Returns the first attempt that has connected. The others are shut down. Throws the only error, or
 * a `NoNodeError` with that of each contact point.
 */
export function connectFirst<Attempt extends ClientAttempt>(
  contactPoints: readonly ServerAddress[],
  createAttempt: (contactPoint: ServerAddress) => Attempt,
): Promise<Attempt> {
  return new Promise((resolve, reject) => {
    const errors = new Map<string, unknown>();
    let startedCount = 0;
    let isConnected = false;
    let timer: NodeJS.Timeout | undefined;

    const startNext = (): void => {
      clearTimeout(timer);
      const contactPoint = contactPoints[startedCount];
      if (isConnected || contactPoint === undefined) return;
      startedCount += 1;
      void connect(contactPoint);
      timer = setTimeout(startNext, LATE_AFTER_MS);
    };

    const connect = async (contactPoint: ServerAddress): Promise<void> => {
      let attempt: Attempt | undefined;
      try {
        attempt = createAttempt(contactPoint);
        await attempt.client.connect();
      } catch (error) {
        await attempt?.client.shutdown().catch(() => {});
        errors.set(formatAddress(contactPoint), error);
        startNext();
        if (errors.size === contactPoints.length) {
          clearTimeout(timer);
          reject(errors.size === 1 ? error : new NoNodeError(errors));
        }
        return;
      }
      if (isConnected) return void attempt.client.shutdown().catch(() => {});
      isConnected = true;
      clearTimeout(timer);
      resolve(attempt);
    };

    startNext();
  });
}
