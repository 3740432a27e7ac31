/**
 * Forwards a browser's requests for `/NAME/…` to the demo of that name, which listens on its own
 * port.
 */
import { request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Target {
  /** The port of the demo on the loopback interface. */
  readonly port: number;
  /** The path at the demo, without its name. */
  readonly path: string;
  /** Changes a page of HTML before it is passed on. */
  readonly editPage: (html: string) => Promise<string>;
}

const HOST = '127.0.0.1';

/** Answers a request with what the demo answers. */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
): void {
  const { port, path, editPage } = target;
  const { method, headers } = request;
  const fail = (): unknown =>
    response.headersSent ? response.destroy() : response.writeHead(502).end();
  const forwarded = sendRequest({ host: HOST, port, path, method, headers }, (answer) => {
    const { statusCode = 502 } = answer;
    if (answer.headers['content-type']?.startsWith('text/html') !== true) {
      response.writeHead(statusCode, answer.headers);
      return void answer.pipe(response);
    }
    const answerPage = async (): Promise<void> => {
      const { 'content-length': _, 'transfer-encoding': __, ...others } = answer.headers;
      const page = await editPage(await text(answer));
      response.writeHead(statusCode, others).end(page);
    };
    answerPage().catch(fail);
  });
  forwarded.on('error', fail);
  response.on('close', () => forwarded.destroy());
  request.pipe(forwarded);
}

/**
 * Connects a WebSocket to the demo. The demo gets the headers unchanged, so it can check the
 * origin.
 */
export function forwardUpgrade(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  target: Omit<Target, 'editPage'>,
): void {
  const demo = connect({ host: HOST, port: target.port, noDelay: true }, () => {
    const lines = [`${request.method} ${target.path} HTTP/1.1`];
    const { rawHeaders } = request;
    for (let at = 0; at < rawHeaders.length; at += 2)
      lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
    demo.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    demo.write(head);
    demo.pipe(socket).pipe(demo);
  });
  socket.setNoDelay(true);
  for (const [from, to] of [
    [demo, socket],
    [socket, demo],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  }
}
