/** Resends a write that may be made twice, if its outcome is unknown. */
import { isCorrectableError } from '../../correctable/errors.ts';

/** How often a write is sent. */
const MAX_ATTEMPTS = 3;
const RESEND_PAUSE_MS = 100;

/** @throws the first error that leaves it open whether the write was made */
export async function writeUntilKnown<T>(
  isRepeatable: boolean,
  write: () => Promise<T>,
): Promise<T> {
  const attempts = isRepeatable ? MAX_ATTEMPTS : 1;
  let failure: unknown;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      const isUnknown = isCorrectableError(error, 'UNKNOWN');
      // A later attempt that was refused says nothing about the first one.
      if (failure === undefined && !isUnknown) throw error;
      failure ??= error;
    }
    if (attempt < attempts) await new Promise((resolve) => setTimeout(resolve, RESEND_PAUSE_MS));
  }
  throw failure;
}
