/** Saying what to do when a program cannot have its port. */

/** The failure in words that name the flags to change, where it is a port that is taken or forbidden; else as it is. */
export function explainPort(failure: unknown, port: number, flags: string): unknown {
  const code = failure instanceof Error && 'code' in failure ? failure.code : undefined;
  const change = `choose another with ${flags} (0: any free one)`;
  if (code === 'EADDRINUSE') {
    return new Error(`port ${port} is taken, perhaps by a demo that still runs: close it, or ${change}`, {
      cause: failure,
    });
  }
  if (code === 'EACCES') return new Error(`port ${port} is not allowed to you: ${change}`, { cause: failure });
  return failure;
}
