/** Logs what a start is doing that takes long. */

const PROGRESS_INTERVAL_MS = 1000;

/**
 * Creates a logger that skips repeated messages, and logs at most once in `PROGRESS_INTERVAL_MS`.
 */
export function createProgressLog(log: (message: string) => void): (message: string) => void {
  let [last, loggedAtMs] = ['', -Infinity];
  return (message) => {
    if (message === last || performance.now() - loggedAtMs < PROGRESS_INTERVAL_MS) return;
    [last, loggedAtMs] = [message, performance.now()];
    log(message);
  };
}
