/**
 * The views of a Correctable over a response of Node. The response belongs to the application as
 * well: a timeout, a shutdown or an error handler may end it at any time. A write after that emits
 * an event in Node that ends the process. So each write checks first. HTTP/2 responses have no
 * `destroyed`: their stream has.
 */
import { check, CorrectableError } from '../correctable/errors.ts';
import { hasMethods } from '../correctable/validate.ts';
import {
  startReply,
  createServerErrorHead,
  watchClose,
  type AnyCorrectable,
  type Reply,
  type RespondOptions,
} from './respond-with-views.ts';

/**
 * The members of a response of Node that `sendViews` needs, over HTTP/1.1 or HTTP/2. Express has
 * such a response, and Fastify as `reply.raw`.
 */
export interface ServerResponseLike {
  /** Absent over HTTP/2: there the `stream` has this member. */
  readonly destroyed?: boolean | undefined;
  readonly stream?: { readonly destroyed: boolean; readonly closed?: boolean } | undefined;
  readonly writableEnded?: boolean | undefined;
  readonly headersSent?: boolean | undefined;
  writeHead(status: number, headers: Record<string, string>): unknown;
  write(chunk: string): boolean;
  end(): unknown;
  end(chunk: string): unknown;
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

/**
 * Sends each view over a response of Node when it arrives, for Express and `node:http`, over
 * HTTP/1.1 and HTTP/2. Resolves when all is sent, or the response has ended. If the application has
 * sent the headers of the response already, the operation is canceled, nothing is written, and
 * `onError` gets `INVALID_ARGUMENT`. Otherwise as `respondWithViews`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if an argument is of another kind
 * @example
 * app.get('/stock/:book', (req, res) =>
 *   sendViews(res, store.invoke(get(req.params.book)), { request: req }),
 * );
 */
export async function sendViews(
  response: ServerResponseLike,
  correctable: AnyCorrectable,
  options: RespondOptions = {},
): Promise<void> {
  check(
    hasMethods(response, 'writeHead', 'write', 'end', 'on', 'off'),
    'response',
    "give Node's ServerResponse",
  );
  const isOver = (): boolean => hasEnded(response);
  const watch = watchClose(response, isOver);
  const reply = await startReply(correctable, options, watch, isOver);
  try {
    if (!hasEnded(response)) await sendReply(response, reply);
  } finally {
    reply.release();
  }
}

async function sendReply(response: ServerResponseLike, reply: Reply): Promise<void> {
  if (response.headersSent) return reply.report(createHeadersSentError());
  if (!sendHead(response, reply)) return;
  for await (const chunk of reply.chunks) {
    if (hasEnded(response)) return;
    // Wait only for `false`: a logger that replaces `write` may return nothing, and then no `drain`
    // event would follow.
    const accepted: unknown = response.write(chunk);
    if (accepted === false) await waitForDrain(response);
  }
  if (!hasEnded(response)) response.end();
}

/** Returns whether views can follow. If a header cannot be sent, the reply has status 500. */
function sendHead(response: ServerResponseLike, reply: Reply): boolean {
  try {
    response.writeHead(reply.status, reply.headers);
    return true;
  } catch (error) {
    reply.report(error);
    const { status, headers, body } = createServerErrorHead();
    response.writeHead(status, headers);
    response.end(body);
    return false;
  }
}

function hasEnded({ destroyed, writableEnded, stream }: ServerResponseLike): boolean {
  return (destroyed || writableEnded || stream?.destroyed || stream?.closed) === true;
}

/**
 * Waits until the response accepts more data, or has closed. A client that stops reading for ever
 * keeps this waiting until its connection is closed.
 */
function waitForDrain(response: ServerResponseLike): Promise<void> {
  if (hasEnded(response)) return Promise.resolve();
  return new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go);
      response.off('close', go);
      resolve();
    };
    response.on('drain', go);
    response.on('close', go);
  });
}

function createHeadersSentError(): CorrectableError {
  const message =
    'sendViews: the application has sent the headers of this response already. ' +
    'No view was sent, and the operation was canceled. Reply once for each request.';
  return new CorrectableError('INVALID_ARGUMENT', message, {
    field: 'response',
  });
}
