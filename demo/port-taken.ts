/** Explains what to do if a program cannot listen on its port. */

/**
 * Returns an error that names the flags to change, if the port is taken or forbidden. Otherwise
 * returns the failure unchanged.
 */
export function explainPort(failure: unknown, port: number, flags: string): unknown {
  const code = failure instanceof Error && 'code' in failure ? failure.code : undefined;
  const change = `choose another with ${flags} (0: any free one)`;
  if (code === 'EADDRINUSE') {
    return new Error(
      `port ${port} is taken, perhaps by a demo that still runs: close it, or ${change}`,
      {
        cause: failure,
      },
    );
  }
  if (code === 'EACCES')
    return new Error(`port ${port} is not allowed to you: ${change}`, { cause: failure });
  return failure;
}
