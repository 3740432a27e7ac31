/** The views of a Correctable as the `Response` of a server of Web standards. */
import {
  startReply,
  type AnyCorrectable,
  type ClientWatch,
  type RespondOptions,
} from './view-reply.ts';
import type { RequestLike } from './session-tokens.ts';
import { watchClose } from './watch-close.ts';

/**
 * Returns a `Response` that sends each view when it arrives, for servers of Web standards: Hono,
 * Fastify, Next.js, Deno, Bun, workers. Resolves with the first view. If the operation fails before
 * that, the reply has the status of its code, and the error as JSON. Each failure goes to `onError`.
 * If the client disconnects, the Correctable is canceled: give one that has no other consumer.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `correctable` is no Correctable; the error of
 *   `Response` if a header cannot be sent
 * @example app.get('/stock/:book', (c) => respondWithViews(store.invoke(get(c.req.param('book'))),
 * { request: c.req.raw }));
 */
export async function respondWithViews(
  correctable: AnyCorrectable,
  options: RespondOptions = {},
): Promise<Response> {
  const reply = await startReply(correctable, options, watchRequest(options.request));
  const { status, headers, chunks, release } = reply;
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel(reason) {
      release(reason);
      await chunks.return();
    },
  });
  try {
    return new Response(body, { status, headers });
  } catch (error) {
    // A header of the application that cannot be sent.
    release(error);
    throw error;
  }
}

/**
 * Prefers the socket: the signal of Fastify also aborts when the body of the request has been read.
 */
function watchRequest({ socket, signal }: Partial<RequestLike> = {}): ClientWatch {
  return socket ? watchClose(socket, () => socket.destroyed) : watchAbort(signal);
}

function watchAbort(signal: AbortSignal | undefined): ClientWatch {
  return (leave) => {
    const onAbort = (): void => leave(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort);
    return () => signal?.removeEventListener('abort', onAbort);
  };
}
