/** The replies to commands that are sent at once. */
import type { RedisBatch } from './redis-driver.ts';

/** What a command of a batch has come to. */
export type BatchReply = { readonly value: unknown } | { readonly error: Error };

/**
 * Sends the commands of a pipeline, and returns what each has come to: a later one may fail,
 * although those before it were executed.
 */
export async function sendPipeline(batch: RedisBatch): Promise<readonly BatchReply[]> {
  const replies = (await batch.exec()) ?? [];
  return replies.map(([error, value]) => (error === null ? { value } : { error }));
}

/**
 * Sends commands that only read, as a pipeline or as a transaction, and returns their values.
 *
 * @throws the error of the first command that was refused, with its place `at`
 *   if the others were executed
 */
export async function sendRead(batch: RedisBatch): Promise<unknown[]> {
  const replies = await batch.exec().catch((error: unknown) => {
    throw findFirstRefusal(error);
  });
  return (replies ?? []).map(([error, value], at) => {
    if (error !== null) throw Object.assign(error, { at });
    return value;
  });
}

/** EXECABORT says only that a command before was refused. */
function findFirstRefusal(error: unknown): unknown {
  const { previousErrors } = Object(error) as {
    readonly previousErrors?: readonly unknown[];
  };
  return previousErrors?.[0] ?? error;
}
