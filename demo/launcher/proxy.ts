/** Forwards what a browser sends for `/NAME/…` to the demo of that name, which listens on a port of its own. */
import { request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface Target {
  /** Where the demo listens, on the loopback interface. */
  readonly port: number;
  /** What the demo calls the address. */
  readonly path: string;
  /** Changes a page of HTML before it is passed on. */
  readonly editPage: (html: string) => string;
}

const HOST = '127.0.0.1';

/** Answers a request with what the demo answers. */
export function forwardRequest(request: IncomingMessage, response: ServerResponse, target: Target): void {
  const { port, path, editPage } = target;
  const { method, headers } = request;
  const forwarded = sendRequest({ host: HOST, port, path, method, headers }, (answer) => {
    const { statusCode = 502 } = answer;
    if (answer.headers['content-type']?.startsWith('text/html') !== true) {
      response.writeHead(statusCode, answer.headers);
      return void answer.pipe(response);
    }
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    answer.on('end', () => {
      const { 'content-length': _, 'transfer-encoding': __, ...others } = answer.headers;
      response.writeHead(statusCode, others).end(editPage(Buffer.concat(chunks).toString('utf8')));
    });
  });
  forwarded.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
  response.on('close', () => forwarded.destroy());
  request.pipe(forwarded);
}

/** Connects a WebSocket to the demo. The demo sees the headers as they came, so it knows which page asks. */
export function forwardUpgrade(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  target: Omit<Target, 'editPage'>,
): void {
  const demo = connect({ host: HOST, port: target.port, noDelay: true }, () => {
    const lines = [`${request.method} ${target.path} HTTP/1.1`];
    const { rawHeaders } = request;
    for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
    demo.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    demo.write(head);
    demo.pipe(socket).pipe(demo);
  });
  socket.setNoDelay(true);
  for (const [one, other] of [
    [demo, socket],
    [socket, demo],
  ] as const) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
}
