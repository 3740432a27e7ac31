/** Waits for Ctrl-C or a request to terminate, so that a program can close what it opened. */
export function waitForSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

/**
 * Waits like `waitForSignal`, and then reports on stderr that the program closes what it opened.
 */
export async function waitUntilClosing(): Promise<void> {
  await waitForSignal();
  console.error('closing');
}
